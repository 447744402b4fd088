//! The results as a page: one file, which needs no network.

use std::fmt::Write as _;
use std::path::Path;

use crate::campaign::{Cell, Grade, Judgement, Kind, Maker, Outcome, Results, Table, relative};
use hardstand_error::Result;

use super::super::html::escape;
use super::{matrix, plots, repeat};

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--good:#1a7f37;--bad:#c1121f}\
@media(prefers-color-scheme:dark){:root{--good:#57d36f;--bad:#ff7b72}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2rem}\
.verdict{font-weight:600;border-left:.4rem solid;padding:.3rem .8rem}\
p.good{color:var(--good)}p.bad{color:var(--bad)}\
table{border-collapse:collapse}caption{text-align:left;padding:.6rem 0 .2rem}\
th,td{text-align:left;vertical-align:top;padding:.25rem .6rem;border-bottom:1px solid var(--line)}\
td.n{text-align:right;font-variant-numeric:tabular-nums}\
code,pre{font:.88em/1.45 ui-monospace,monospace}code{overflow-wrap:anywhere}\
pre{white-space:pre-wrap;border:1px solid var(--line);padding:.4rem .6rem;margin:.2rem 0}\
.wide{overflow-x:auto}svg{max-width:100%;height:auto;background:#fff}\
.matrix td{text-align:right;color:#111;border:2px solid #fff;font-variant-numeric:tabular-nums}\
.matrix .good{background:#b7e3c0}.matrix .some{background:#ffe08a}.matrix .most{background:#ffb37a}\
.matrix .all{background:#ff8a80}.matrix .none{background:#ddd}\
#cases button{font:inherit;font-weight:600;border:0;background:none;padding:0;cursor:pointer;\
color:inherit}#cases [aria-sort=ascending] button::after{content:' ▲'}\
#cases [aria-sort=descending] button::after{content:' ▼'}\
@media print{body{max-width:none;margin:0;font-size:10pt}tr,figure{break-inside:avoid}}";

/// Sorts the table of all cases by the column whose head is pressed.
const SCRIPT: &str = "\
const table=document.getElementById('cases'),body=table.tBodies[0];\
table.tHead.addEventListener('click',e=>{\
const th=e.target.closest('th');if(!th)return;\
const up=th.getAttribute('aria-sort')!=='ascending',i=th.cellIndex;\
for(const h of th.parentNode.children)h.removeAttribute('aria-sort');\
th.setAttribute('aria-sort',up?'ascending':'descending');\
const key=r=>r.cells[i].textContent,n=th.className==='n';\
const less=(a,b)=>{const x=key(a),y=key(b);\
if(x===''||y==='')return (x==='')-(y==='');\
const d=n?parseFloat(x)-parseFloat(y):x<y?-1:x>y?1:0;return up?d:-d};\
body.append(...[...body.rows].sort(less))});";

/// Failed cases that are shown with their command.
const DETAILS_MAX: usize = 1000;

/// The page; `at` is the file that it will be, from which links lead to the results.
///
/// # Errors
/// [`ErrorKind::Internal`](hardstand_error::ErrorKind::Internal) if it cannot be drawn.
pub(super) fn page(results: &Results, at: &Path) -> Result<String> {
    let title = escape(results.manifest.name());
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Campaign {title}</title>\n<style>{STYLE}</style>\n<h1>Campaign {title}</h1>\n"
    );
    let links = Links { from: at.parent().unwrap_or(Path::new("/")), results };
    out += &verdict(results);
    out += &facts(results);
    out += "<h2>Cases that did not pass, of those that ran</h2>\n";
    out += &matrix::matrices(results);
    out += &failed(results, &links);
    let drawings = plots::plots(results)?;
    if !drawings.is_empty() {
        out += "<h2>Measures</h2>\n<p>A blue circle is a case that passed, a red cross one that \
                did not. A line leads from the least to the largest value, the bar over the middle \
                half of them, the black mark is the median.</p>\n";
    }
    for (name, svg) in drawings {
        let _infallible =
            writeln!(out, "<figure><figcaption>{}</figcaption>{svg}</figure>", escape(&name));
    }
    out += &all(results, &links);
    out += &makers(&results.manifest.made_by);
    let _infallible = writeln!(out, "<script>{SCRIPT}</script>\n</html>");
    Ok(out)
}

/// Links from the page to files of the results.
struct Links<'a> {
    from: &'a Path,
    results: &'a Results,
}

impl Links<'_> {
    /// Links to the page and the log of a case, where they are.
    fn of(&self, outcome: &Outcome) -> String {
        let mut out = String::new();
        for (name, file) in [("page", &outcome.page), ("log", &outcome.log)] {
            let Some(file) = file else { continue };
            let to = relative(self.from, &self.results.folder.join(file));
            let _infallible = write!(out, "<a href=\"{}\">{name}</a> ", escape(&reference(&to)));
        }
        out
    }
}

/// A path as a reference: its words keep their letters, and what has a meaning in one is encoded.
fn reference(path: &Path) -> String {
    let mut out = String::new();
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn verdict(results: &Results) -> String {
    let mut counts = [0_usize; 4];
    for (_, outcome) in &results.cases {
        let place = match results.judge(outcome.as_ref()).grade {
            Grade::Passed => 0,
            Grade::Failed => 1,
            Grade::Broken => 2,
            Grade::Unfinished => 3,
        };
        counts[place] += 1;
    }
    let [passed, failed, broken, missing] = counts;
    let all = results.cases.len();
    let class = if passed == all { "good" } else { "bad" };
    format!(
        "<p class=\"verdict {class}\">Of {all} cases {passed} passed, {failed} failed by fail_if, \
         {broken} did not reach their end, {missing} have not run.</p>\n"
    )
}

fn facts(results: &Results) -> String {
    let m = &results.manifest;
    let pairs = |list: &[(String, String)]| {
        let lines: Vec<String> =
            list.iter().map(|(name, text)| format!("{name}: {text}")).collect();
        lines.join("\n")
    };
    let speed =
        m.speed.map_or("as fast as the machine allows".into(), |s| format!("{s} × real time"));
    let scenarios: Vec<String> =
        m.scenarios.iter().map(|s| format!("{}: {}, hash {}", s.name, s.file, s.hash)).collect();
    let rows = [
        ("File", m.file.clone()),
        ("Scenarios", scenarios.join("\n")),
        ("Faults", m.faults.join(", ")),
        ("Each case", format!("{} s, {}, {speed}", m.duration_s, m.mode)),
        ("Controller", m.controller.join(" ")),
        ("Conditions", pairs(&m.conditions)),
        ("Measures", pairs(&m.measures)),
        ("fail_if", m.fail_if.join(", ")),
        ("Hardstand", m.hardstand.clone()),
        ("A case again", repeat::command(m, "CASE")),
    ];
    let mut out = String::from("<table>\n");
    for (name, value) in rows {
        let value = escape(&value).replace('\n', "<br>");
        let _infallible = writeln!(out, "<tr><th>{name}</th><td><code>{value}</code></td></tr>");
    }
    out + "</table>\n"
}

/// What did not pass: why, where to look, and the command that repeats it.
fn failed(results: &Results, links: &Links<'_>) -> String {
    let judged = results.finished().map(|(_, outcome)| (outcome, results.judge(Some(outcome))));
    let bad: Vec<(&Outcome, Judgement)> =
        judged.filter(|(_, judged)| judged.grade != Grade::Passed).collect();
    if bad.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h2>Why they did not pass</h2>\n");
    for (outcome, judged) in bad.iter().take(DETAILS_MAX) {
        let _infallible = writeln!(
            out,
            "<details><summary><code>{}</code> ✗ {} {}</summary>\n<p>{}</p>\n<pre>{}</pre>\
             </details>",
            escape(&outcome.case),
            escape(&judged.kind),
            links.of(outcome),
            escape(&judged.why),
            escape(&repeat::command(&results.manifest, &outcome.case))
        );
    }
    if bad.len() > DETAILS_MAX {
        let _infallible = writeln!(
            out,
            "<p>These are the first {DETAILS_MAX} of {}; the table below has all.</p>",
            bad.len()
        );
    }
    out
}

/// Columns of the table of results that the page has in another form, or for which it has no room.
const LEFT_OUT: [&str; 4] = ["reason", "exit_code", "log", "page"];

fn all(results: &Results, links: &Links<'_>) -> String {
    let table = Table::of(results);
    let shown: Vec<usize> = (0..table.columns.len())
        .filter(|i| !LEFT_OUT.contains(&table.columns[*i].0.as_str()))
        .collect();
    let mut out = String::from(
        "<h2>All cases that ran</h2>\n<p>Press the head of a column to sort.</p>\n\
         <div class=\"wide\"><table id=\"cases\">\n<thead><tr><th><button>result</button></th>",
    );
    for &i in &shown {
        let (name, kind) = &table.columns[i];
        let class = if is_number(*kind) { " class=\"n\"" } else { "" };
        let _infallible = write!(out, "<th{class}><button>{}</button></th>", escape(name));
    }
    out += "<th><button>why</button></th><th><button>files</button></th></tr></thead>\n<tbody>\n";
    for (row, (_, outcome)) in table.rows.iter().zip(results.finished()) {
        let judged = results.judge(Some(outcome));
        let mark = if judged.grade == Grade::Passed { "✓" } else { "✗" };
        let _infallible = write!(out, "<tr><td>{mark} {}</td>", escape(&judged.kind));
        for &i in &shown {
            let class = if is_number(table.columns[i].1) { " class=\"n\"" } else { "" };
            let _infallible = write!(out, "<td{class}>{}</td>", escape(&text(&row[i])));
        }
        let _infallible =
            writeln!(out, "<td>{}</td><td>{}</td></tr>", escape(&judged.why), links.of(outcome));
    }
    out + "</tbody>\n</table></div>\n"
}

const fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Number)
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::None => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Integer(n) => n.to_string(),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Number(x) if *x != 0.0 && !(1e-3..1e9).contains(&x.abs()) => format!("{x:.4e}"),
        Cell::Number(x) => {
            let digits = format!("{x:.6}");
            digits.trim_end_matches('0').trim_end_matches('.').into()
        }
    }
}

/// Programs and files, as in a certificate, of everything that ran cases.
fn makers(makers: &[Maker]) -> String {
    let mut out = String::new();
    for maker in makers {
        let (m, i) = (&maker.machine, &maker.inputs);
        let _infallible = writeln!(
            out,
            "<h2>Inputs</h2>\n<p>{} cores, {}, Linux {}, {}</p>\n<div class=\"wide\"><table>",
            m.cores,
            escape(&m.cpu),
            escape(&m.kernel),
            escape(&m.architecture)
        );
        let parts = [
            ("hardstand", std::slice::from_ref(&i.daemon)),
            ("scenario", &i.scenario[..]),
            ("controller", &i.controller[..]),
        ];
        for (what, file) in parts.iter().flat_map(|(what, f)| f.iter().map(move |f| (what, f))) {
            let _infallible = writeln!(
                out,
                "<tr><td>{what}</td><td><code>{}</code></td><td class=\"n\">{} B</td>\
                 <td><code>{}</code></td></tr>",
                escape(&file.file),
                file.bytes,
                file.sha256
            );
        }
        out += "</table></div>\n";
        let variables = i.environment.iter().map(|(name, value)| format!("{name}={value}"));
        let lines = [i.packages.join(", "), variables.collect::<Vec<_>>().join(" ")];
        for line in lines.iter().filter(|line| !line.is_empty()) {
            let _infallible = writeln!(out, "<p><code>{}</code></p>", escape(line));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{reference, relative};

    #[test]
    fn links_lead_from_the_page_to_the_results() {
        for (from, to, expected) in [
            ("/a/r", "/a/r/cases/x/run.html", "cases/x/run.html"),
            ("/a", "/a/my results/run.html", "my%20results/run.html"),
            ("/a/pages/p", "/a/r#1/run.html", "../../r%231/run.html"),
        ] {
            assert_eq!(reference(&relative(Path::new(from), Path::new(to))), expected);
        }
    }
}
