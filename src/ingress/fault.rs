//! Requests to inject and to clear faults: checked.

use crate::simulation::{fault_event, fault_part};
use hardstand_physics::model::Model;
use hardstand_physics::plant::PlantSpec;
use hardstand_protocol::{Event, FaultError, FaultKind, FaultSpec, Rejection};

use super::control::check_ticks;
use super::order::{claimed, refused_number, shown};
use hardstand_protocol::{ClearFaultsRequest, FaultRequest, Kind, Refusal};

/// Makes a fault of a body, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, kind, values, part, duration.
pub fn check_fault(body: &[u8], model: &Model, spec: &PlantSpec) -> Result<Event, Refusal> {
    let r: FaultRequest = claimed(Kind::Fault, body, "as the body's lengths say")?;
    let row = row_of(&r.kind)?;
    check_count(row, r.values.len())?;
    let ticks = (r.ticks > 0).then_some(r.ticks);
    let refused = |wrong| refusal(wrong, &r.name, row);
    let event = fault_event(row, model, spec, on(&r.part, &r.name), &r.values, ticks);
    let event = event.map_err(refused)?;
    ticks.map_or(Ok(()), |ticks| check_ticks("ticks", ticks, 1))?;
    Ok(event)
}

/// Makes an event of a body that clears faults, if all is well.
///
/// # Errors
/// As for [`check_fault`].
pub fn check_clear_faults(body: &[u8], model: &Model, spec: &PlantSpec) -> Result<Event, Refusal> {
    let r: ClearFaultsRequest = claimed(Kind::ClearFaults, body, "as the body's lengths say")?;
    let row = if r.kind.is_empty() { None } else { Some(row_of(&r.kind)?) };
    let on = on(&r.part, &r.name);
    let part = match (row, on) {
        (Some(row), Some(_)) => {
            let found =
                fault_part(row, model, spec, on).map_err(|wrong| refusal(wrong, &r.name, row))?;
            Some(found.0)
        }
        (None, Some(_)) => {
            let text = "part is given without kind; name the kind of fault, or neither".into();
            return Err(Refusal { reason: Rejection::OutOfRange, text });
        }
        (_, None) => None,
    };
    Ok(Event::ClearFaults { kind: row.map(|row| row.kind), part })
}

fn on<'a>(part: &'a str, name: &'a str) -> Option<(&'a str, &'a str)> {
    (!part.is_empty() || !name.is_empty()).then_some((part, name))
}

fn row_of(kind: &str) -> Result<&'static FaultSpec, Refusal> {
    FaultSpec::named(kind).ok_or_else(|| {
        let names = FaultKind::TABLE.each_ref().map(|row| row.name).join(", ");
        let text = format!("kind is {:?}; it must be one of: {names}", shown(kind));
        Refusal { reason: Rejection::OutOfRange, text }
    })
}

fn check_count(row: &FaultSpec, got: usize) -> Result<(), Refusal> {
    let (name, count) = (row.name, row.number_count());
    if got == count {
        return Ok(());
    }
    let text = format!("values has {got} numbers; {name} needs {count}");
    Err(Refusal { reason: Rejection::OutOfRange, text })
}

fn refusal(wrong: FaultError, name: &str, row: &FaultSpec) -> Refusal {
    let FaultError { field, value, allowed } = wrong;
    if let Some(value) = value {
        return refused_number(&field, value, allowed);
    }
    let is_name = row.place.words().contains(&field.as_str());
    let named = if is_name { format!(" is {:?}", shown(name)) } else { String::new() };
    let text = format!("{field}{named}: it must be {allowed}");
    Refusal { reason: Rejection::OutOfRange, text }
}
