//! The set-points for a recorded walk: those of examples/trot.py, and the same bits everywhere.

use hardstand_trot::{Command, Readings, SetPoint, Trot, commanded};

const RECORDED: &str = include_str!("recorded.txt");

/// Of the bits of all set-points (FNV-1a). Whatever changes it changes how the robot walks.
const DIGEST: u64 = 0x5466_d17e_9466_66d2;

/// The next `N` numbers.
fn take<const N: usize>(numbers: &mut impl Iterator<Item = f64>) -> [f64; N] {
    std::array::from_fn(|_| numbers.next().unwrap_or(f64::NAN))
}

fn reading(numbers: &mut impl Iterator<Item = f64>) -> (Readings, Command) {
    let [time_s, trot, vx_m_per_s, vy_m_per_s, wz_rad_per_s] = take(numbers);
    let readings = Readings {
        time_s,
        imu_quat_wxyz: take(numbers),
        imu_gyro_rad_per_s: take(numbers),
        imu_acc_m_per_s2: take(numbers),
        q_rad: take(numbers),
        dq_rad_per_s: take(numbers),
        foot_contact: take(numbers).map(|contact| contact == 1.0),
    };
    (readings, Command { trot: trot == 1.0, vx_m_per_s, vy_m_per_s, wz_rad_per_s })
}

fn values(set_points: &[SetPoint; 12]) -> Vec<f64> {
    let of = [
        |s: &SetPoint| s.q_rad,
        |s: &SetPoint| s.dq_rad_per_s,
        |s: &SetPoint| s.kp,
        |s: &SetPoint| s.kd,
        |s: &SetPoint| s.tau_ff_nm,
    ];
    of.iter().flat_map(|part| set_points.iter().map(part)).collect()
}

#[test]
fn a_recorded_walk_has_the_set_points_of_the_python_controller() {
    let (mut trot, mut set_points, mut compared) = (Trot::new(), [SetPoint::default(); 12], 0);
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let (kind, numbers) = line.split_at(1);
        let mut numbers = numbers.split_whitespace().map(|n| n.parse().unwrap_or(f64::NAN));
        if kind == "r" {
            let (readings, command) = reading(&mut numbers);
            set_points = trot.step(&readings, &command);
            continue;
        }
        for (i, (ours, theirs)) in values(&set_points).into_iter().zip(numbers).enumerate() {
            // The file has 12 digits; sums of 0.1 kN round to 1e-12.
            let error = (ours - theirs).abs();
            assert!(error <= 1e-11 + 1e-11 * theirs.abs(), "{compared}: {i}: {ours} {theirs}");
        }
        compared += 1;
    }
    assert_eq!(compared, 15);
}

#[test]
fn a_recorded_walk_has_the_same_bits_on_every_machine() {
    let (mut trot, mut digest) = (Trot::new(), 0xcbf2_9ce4_8422_2325_u64);
    for line in RECORDED.lines().filter(|line| line.starts_with('r')) {
        let mut numbers = line.split_whitespace().skip(1).map(|n| n.parse().unwrap_or(f64::NAN));
        let (readings, command) = reading(&mut numbers);
        for byte in values(&trot.step(&readings, &command)).iter().flat_map(|x| x.to_le_bytes()) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    assert_eq!(digest, DIGEST, "{digest:#x}");
}

#[test]
fn a_step_accepts_all_readings() {
    let line = RECORDED.lines().find(|line| line.starts_with('r')).unwrap_or_default();
    let numbers: Vec<f64> =
        line.split_whitespace().skip(1).map(|n| n.parse().unwrap_or(f64::NAN)).collect();
    assert_eq!(numbers.len(), 43);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 0.0] {
        for place in 0..numbers.len() {
            let mut numbers = numbers.clone();
            numbers[place] = bad;
            let (readings, command) = reading(&mut numbers.into_iter());
            let mut trot = Trot::new();
            for _ in 0..3 {
                trot.step(&readings, &command);
            }
        }
    }
}

#[test]
fn a_command_holds_until_the_next() {
    let spot = Command { trot: true, ..Command::default() };
    let ahead = Command { vx_m_per_s: 0.4, ..spot };
    let schedule = [(1.0, spot), (2.5, ahead)];
    let at = |time_s| commanded(&schedule, time_s);
    assert_eq!([at(0.9), at(1.0), at(2.4), at(2.5)], [Command::default(), spot, spot, ahead]);
}
