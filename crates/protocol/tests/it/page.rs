//! docs/protocol.md has the keys, kinds, fields, types, offsets and numbers of the code, and
//! docs/security.md its keys.

use std::path::PathBuf;

use hardstand_protocol::{
    Authority, BodiesReading, ClaimedCommand, ClearFaultsRequest, ContactsReading, ControlRequest,
    DrivesReading, EventReading, FaultKind, FaultRequest, FrictionRequest, JoinReply, JoinRequest,
    Keyframe, Kind, LeaveRequest, LogLink, LogTick, ModelReply, Order, OrderHead, OrderReply,
    PlantFailure, PushRequest, Rejection, Role, SavedState, SensorsReading, SpeedRequest,
    StateReading, StatusReading, VERSION,
};
use serde::de::DeserializeOwned;

use crate::probe::{Field, probe, top_names};

fn page(name: &str) -> String {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::read_to_string(docs.join(name)).unwrap()
}

/// The text after the first line that begins with `start`.
fn after<'a>(page: &'a str, start: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n{start}")).unwrap_or_else(|| panic!("no {start}"));
    rest
}

/// The rows of the next table with a column `field`: its columns offset, type, field.
fn rows(text: &str) -> Vec<[String; 3]> {
    let mut lines = text.lines().skip_while(|l| !(l.starts_with('|') && l.contains("| field |")));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split(" | ").map(|c| c.trim().replace('`', "")).collect()
    };
    let head = cells(lines.next().unwrap());
    let column = |name: &str| head.iter().position(|h| h == name);
    let table = lines.skip(1).take_while(|l| l.starts_with('|'));
    table
        .map(|line| {
            let cells = cells(line);
            ["offset", "type", "field"].map(|c| column(c).map_or("", |i| &cells[i]).to_string())
        })
        .collect()
}

/// The type of a field in the words of the page.
fn word(field: &Field) -> &str {
    if field.kind == "FrameDescription" { "frame" } else { &field.kind }
}

/// Bytes of a type, if that is fixed.
fn size(kind: &str) -> Option<usize> {
    if let Some(kind) = kind.strip_suffix(']') {
        let (kind, count) = kind.split_once('[')?;
        return Some(size(kind)? * count.parse::<usize>().ok()?);
    }
    match kind {
        "u8" => Some(1),
        "u32" => Some(4),
        "u64" | "f64" => Some(8),
        _ => None,
    }
}

/// Fields directly within `path`.
fn within<'a>(fields: &'a [Field], path: &'a [&str]) -> impl Iterator<Item = &'a Field> {
    fields.iter().filter(move |f| f.path == path)
}

/// What the page must list for these fields, the first of which is at `start`.
fn expected<'a>(fields: impl Iterator<Item = &'a Field>, start: usize) -> Vec<[String; 3]> {
    let mut at = Some(start);
    fields
        .map(|field| {
            let offset = at.map_or(String::new(), |at| at.to_string());
            at = at.and_then(|at| Some(at + size(&field.kind)?));
            [offset, word(field).into(), field.name.into()]
        })
        .collect()
}

fn check_table<T: DeserializeOwned>(text: &str) {
    check_table_from::<T>(text, 4);
}

/// A table whose first field is at the offset `start`: 0 for the body of an order.
fn check_table_from<T: DeserializeOwned>(text: &str, start: usize) {
    let (_, fields) = probe::<T>();
    assert_eq!(rows(text), expected(within(&fields, &[]), start));
}

/// Each field is named in the text, with its type if `typed`, in their order.
fn check_prose<'a>(text: &str, fields: impl Iterator<Item = &'a Field>, typed: bool) {
    let mut rest = text;
    for field in fields {
        let name = format!("`{}`", field.name);
        let kind = match word(field) {
            "f64[3]" => "3 f64",
            kind => kind,
        };
        let wanted = if typed { format!("{name} {kind}") } else { name };
        rest = rest.split_once(&wanted).unwrap_or_else(|| panic!("no {wanted} in {text}")).1;
    }
}

fn line<'a>(page: &'a str, start: &str) -> &'a str {
    page.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("no {start}"))
}

/// From the line that begins with `start` to the next empty line or item of a list.
fn item(page: &str, start: &str) -> String {
    let text = after(page, start);
    let end = ["\n\n", "\n- "].iter().filter_map(|end| text.find(end)).min();
    text[..end.unwrap_or(text.len())].replace('\n', " ")
}

#[test]
fn version_and_kinds_are_those_of_the_code() {
    let page = page("protocol.md");
    assert!(page.starts_with(&format!("# The protocol, version {VERSION}\n")));
    assert!(page.contains(&format!("| 2 | 1 | protocol version, {VERSION} |")));
    let kinds = Kind::ALL.map(|kind| format!("{} {}", kind.code(), kind.name())).join(", ");
    assert!(page.contains(&format!("| 3 | 1 | kind: {kinds} |")), "{kinds}");
    for kind in [
        Kind::Model,
        Kind::State,
        Kind::Contacts,
        Kind::Drives,
        Kind::Sensors,
        Kind::Bodies,
        Kind::View,
        Kind::Status,
        Kind::Event,
    ] {
        let encoding = format!("`application/octet-stream;{}`", kind.schema());
        assert!(page.contains(&encoding), "{encoding}");
    }
}

#[test]
fn the_table_of_keys_has_every_key() {
    let page = page("protocol.md");
    let table = after(&page, "| key | use |").lines().skip(2).take_while(|l| l.starts_with('|'));
    let mut found: Vec<&str> =
        table.flat_map(|l| l.split('|').nth(1).unwrap().split('`').skip(1).step_by(2)).collect();
    let published = [
        "model",
        "model/urdf",
        "model/ground",
        "state",
        "state/due",
        "contacts",
        "bodies",
        "drives",
        "sensors",
        "view",
        "status",
        "events",
        "cmd",
    ];
    let mut keys: Vec<&str> = published.into_iter().chain(Order::ALL.map(Order::name)).collect();
    found.sort_unstable();
    keys.sort_unstable();
    assert_eq!(found, keys);
}

#[test]
fn the_roles_have_the_keys_of_the_code() {
    let page = page("security.md");
    let quoted = |asks: Vec<Order>| {
        let names: Vec<_> = asks.into_iter().map(|ask| format!("`{}`", ask.name())).collect();
        names.join(", ")
    };
    let names = |row: &str| -> Vec<String> {
        let mut names: Vec<String> =
            row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2).map(Into::into).collect();
        names.sort_unstable();
        names
    };
    let (joining, changing): (Vec<Order>, Vec<Order>) =
        Order::ALL.into_iter().partition(|ask| Order::OF_CONTROLLERS.contains(ask));
    for (start, asks, roles) in [
        ("| query `join`", joining, "| – | yes | yes | – |"),
        ("| query `arm`", changing, "| – | yes | – | – |"),
    ] {
        let row = line(&page, start);
        assert_eq!(names(row), names(&format!("| {} |", quoted(asks))));
        assert!(row.ends_with(roles), "{row}");
    }
}

#[test]
fn the_tables_of_fields_are_those_of_the_code() {
    let page = page("protocol.md");
    check_table::<ModelReply>(after(&page, "## model\n"));
    check_table::<StateReading>(after(&page, "## state\n"));
    check_table::<ContactsReading>(after(&page, "## contacts\n"));
    check_table::<DrivesReading>(after(&page, "## drives\n"));
    check_table::<SensorsReading>(after(&page, "## sensors\n"));
    check_table::<BodiesReading>(after(&page, "## bodies\n"));
    check_table::<StatusReading>(after(&page, "## status\n"));
    check_table::<EventReading>(after(&page, "## events\n"));
    check_table_from::<JoinRequest>(after(&page, "Query `join` with Join, kind 13:"), 0);
    check_table::<JoinReply>(after(&page, "The answer is JoinReply, kind 14:"));
    check_table_from::<FrictionRequest>(after(&page, "## friction\n"), 0);
    check_table::<OrderReply>(after(&page, "The answer is OrderReply, kind 9"));
}

#[test]
fn the_elements_of_lists_are_those_of_the_code() {
    let page = page("protocol.md");
    let (_, contacts) = probe::<ContactsReading>();
    for (start, list) in [
        ("An element of `feet`", "feet"),
        ("An element of `stations`", "stations"),
        ("An element of `constraints`", "constraints"),
    ] {
        assert_eq!(rows(after(&page, start)), expected(within(&contacts, &[list]), 0));
    }
    let (_, drives) = probe::<DrivesReading>();
    let found = rows(after(&page, "An element of `joints` is one drive"));
    assert_eq!(found, expected(within(&drives, &["joints"]), 0));
    let (_, sensors) = probe::<SensorsReading>();
    for (start, list) in [
        ("An element of `joints` is the truth of one joint", "joints"),
        ("An element of `feet` is one sensor", "feet"),
    ] {
        assert_eq!(rows(after(&page, start)), expected(within(&sensors, &[list]), 0));
    }
    let (_, bodies) = probe::<BodiesReading>();
    for (start, list) in
        [("An element of `bodies`", "bodies"), ("An element of `points`", "points")]
    {
        assert_eq!(rows(after(&page, start)), expected(within(&bodies, &[list]), 0));
    }
    let (_, model) = probe::<ModelReply>();
    for list in
        ["joints", "feet", "stations", "surfaces", "constraints", "regions", "bodies", "shapes"]
    {
        let path = [list];
        let fields = within(&model, &path).filter(|f| f.kind != "PoseDescription");
        check_prose(&item(&page, &format!("- `{list}`:")), fields, false);
    }
    check_prose(&item(&page, "A pose is"), within(&model, &["imu_frame", "pose"]), false);
    let (_, state) = probe::<StateReading>();
    check_prose(line(&page, "| 272 | list | `joints`"), within(&state, &["joints"]), false);
    let (_, status) = probe::<StatusReading>();
    for list in ["counters", "controllers"] {
        let row = line(&page, &format!("| | list | `{list}`"));
        check_prose(row.rsplit_once(" | ").unwrap().1, within(&status, &[list]), false);
    }
    let found = rows(after(&page, "A Distribution has six fields:"));
    let found: Vec<&str> = found.iter().flat_map(|[_, _, names]| names.split(", ")).collect();
    let fields = within(&status, &["tick_cost_ns"]).map(|f| f.name);
    assert_eq!(found, fields.collect::<Vec<_>>());
}

#[test]
fn the_fields_of_a_command_are_those_of_the_code() {
    let page = page("protocol.md");
    let (_, command) = probe::<ClaimedCommand>();
    let mut all = expected(within(&command, &[]), 4);
    let [start, ..] = all.pop().unwrap();
    all.push([start.clone(), "u64".into(), "count of joints".into()]);
    for [at, kind, name] in expected(within(&command, &["joints"]), 8) {
        let at = start.parse::<usize>().unwrap() + at.parse::<usize>().unwrap();
        all.push([format!("{at} + 40 i"), kind, name]);
    }
    assert_eq!(rows(after(&page, "## cmd\n")), all);
}

#[test]
fn the_fields_of_the_smaller_requests_are_those_of_the_code() {
    fn check<T: DeserializeOwned>(text: &str) {
        check_prose(text, within(&probe::<T>().1, &[]), true);
    }
    let page = page("protocol.md");
    check::<ControlRequest>(line(&page, "| Control | 10, "));
    check::<SpeedRequest>(line(&page, "| Speed | 16, "));
    check::<PushRequest>(line(&page, "| Push | 11 |"));
    check::<SavedState>(line(&page, "| SavedState | 12 |"));
    check::<ClearFaultsRequest>(&item(&page, "Clear, kind 21:"));
    check::<LeaveRequest>(&item(&page, "- `leave` (Leave, kind 15:"));
    check::<Keyframe>(&item(&page, "Keyframe:"));
    check::<LogLink>(&item(&page, "LogLink:"));
    let (_, head) = probe::<OrderHead>();
    let mut listed = expected(within(&head, &[]), 4);
    listed.iter_mut().for_each(|[offset, ..]| offset.clear());
    assert_eq!(rows(after(&page, "## Orders\n")), listed);
    let (_, fault) = probe::<FaultRequest>();
    let mut listed = expected(within(&fault, &[]), 4);
    listed.iter_mut().for_each(|[offset, ..]| offset.clear());
    assert_eq!(rows(after(&page, "Fault, kind 20:")), listed);
    let ticks = rows(after(&page, "LogTick:"));
    let names: Vec<&str> = ticks.iter().map(|[_, _, name]| name.as_str()).collect();
    assert_eq!(names, top_names::<LogTick>());
}

#[test]
fn the_numbers_of_enums_are_those_of_the_code() {
    fn list<const N: usize>(numbers: [(u8, &str); N]) -> String {
        numbers.map(|(code, name)| format!("{code} {}", name.replace('_', " "))).join(", ")
    }
    let page = page("protocol.md");
    let found = [
        (line(&page, "| enum | `authority`"), list(Authority::ALL.map(|a| (a.code(), a.name())))),
        (
            line(&page, "| option | `failure`"),
            list(PlantFailure::ALL.map(|f| (f.code(), f.name()))),
        ),
        (line(&page, "| `verdict`"), list(Rejection::ALL.map(|r| (r.code(), r.name())))),
    ];
    for (row, numbers) in found {
        assert!(row.contains(&numbers), "{numbers} in {row}");
    }
    let roles = line(&page, "| 24 | u8 | `role`");
    for role in Role::ALL {
        assert!(roles.contains(&format!("{} *{}*", role.code(), role.name())), "{role:?}");
    }
    let faults = self::page("faults.md");
    for kind in FaultKind::ALL {
        line(&faults, &format!("| {} | `{}` |", kind.code(), kind.name()));
    }
}
