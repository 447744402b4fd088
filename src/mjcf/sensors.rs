//! Sensors: which sites are those of an inertial unit and of feet.

use super::element::Element;
use super::report::Report;

/// Sites that the sensors of a model name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sensors {
    /// Site of the first gyroscope or accelerometer.
    pub imu: Option<String>,
    /// Bodies with a touch sensor.
    pub touch: Vec<String>,
}

/// Readings that every robot has: of all joints, and the orientation of the inertial unit.
const READ: [&str; 7] = [
    "jointpos",
    "jointvel",
    "jointactuatorfrc",
    "actuatorpos",
    "actuatorvel",
    "actuatorfrc",
    "framequat",
];

/// Reads the sensors; `body_of` is the body of a site.
pub(super) fn sensors(
    root: &Element,
    body_of: impl Fn(&str) -> Option<String>,
    report: &mut Report,
) -> Sensors {
    let mut out = Sensors::default();
    for sensor in root.all("sensor").flat_map(|section| &section.children) {
        let site = sensor.get("site").unwrap_or_default();
        let name = sensor.get("name").unwrap_or(&sensor.place);
        match sensor.tag.as_str() {
            "gyro" | "accelerometer" | "touch" if body_of(site).is_none() => {
                report.mistake(format!("{}: there is no site \"{site}\"", sensor.place));
            }
            "gyro" | "accelerometer" => match &out.imu {
                Some(first) if first != site => {
                    let text = format!("the inertial unit is at {first}; others are left out");
                    report.left_out(&text, name);
                }
                _ => out.imu = Some(site.into()),
            },
            "touch" => out.touch.extend(body_of(site)),
            tag if READ.contains(&tag) => {}
            tag => report.left_out(&format!("sensors of the kind {tag} are not read"), name),
        }
    }
    out
}
