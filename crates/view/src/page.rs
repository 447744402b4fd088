//! The built page, and pages with runs inside.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The page as `npm run build` in `web/` makes it: one file.
pub(crate) const PAGE: &str = include_str!("../page/index.html");

/// One HTML file with a run file, and another one to lay over it if there are two: it needs no
/// server and no network.
#[must_use]
pub fn page_with_runs(runs: &[Vec<u8>]) -> String {
    let mut inside = String::new();
    for (id, run) in ["hardstand-run", "hardstand-run2"].iter().zip(runs) {
        let text = STANDARD.encode(run);
        inside += &format!("<script id=\"{id}\" type=\"text/plain\">{text}</script>\n");
    }
    match PAGE.rsplit_once("</body>") {
        Some((before, after)) => [before, &inside, "</body>", after].concat(),
        None => [&inside, PAGE].concat(),
    }
}
