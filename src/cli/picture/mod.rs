//! Files of drawings: SVG, or PNG with a font of our own, so that no font is needed here.

use std::error::Error as StdError;
use std::io::Write as _;
use std::path::Path;
use std::sync::Once;

use plotters::chart::ChartContext;
use plotters::coord::{CoordTranslate, Shift};
use plotters::prelude::{
    BLACK, BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, PathElement, SVGBackend,
    SeriesLabelPosition, WHITE,
};
use plotters::style::{Color, FontStyle, ShapeStyle, register_font};

use super::output_file::{self, OutputFile};
use hardstand_error::{Error, ErrorKind, Result};

/// The font of all text.
pub(super) const FONT: &str = "sans-serif";
/// Characters of Latin, Greek and mathematics.
const FONT_BYTES: &[u8] = include_bytes!("DejaVuSans.ttf");
static FONT_IS_KNOWN: Once = Once::new();

pub(super) type Drawn = std::result::Result<(), Box<dyn StdError>>;

/// What can be drawn.
pub(super) trait Drawing {
    /// Width and height, px.
    fn size_px(&self) -> (u32, u32);

    /// Draws on a white area.
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B::ErrorType: 'static;
}

/// # Errors
/// [`ErrorKind::Input`] if the name ends neither in `.svg` nor in `.png`, or is that of one of
/// `inputs`; `option` is what gave it.
pub(super) fn check<'a>(
    option: &str,
    file: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    if is(file, "svg") || is(file, "png") {
        return output_file::check(option, file, inputs);
    }
    let text = format!("{option} is {}; its name must end in .svg or .png", file.display());
    Err(Error::new(ErrorKind::Input, text))
}

/// Draws into a file; the end of its name chooses the format.
///
/// # Errors
/// [`ErrorKind::File`] if it cannot be written.
pub(super) fn write(file: &Path, drawing: &impl Drawing) -> Result<()> {
    know_font();
    output_file::write("plot", file, |out| match is(file, "png") {
        true => write_png(out, drawing),
        false => write_svg(out, drawing),
    })
}

/// The drawing as SVG, to stand within a page.
///
/// # Errors
/// [`ErrorKind::Internal`] if it cannot be drawn.
#[cfg(feature = "zenoh")]
pub(super) fn svg(drawing: &impl Drawing) -> Result<String> {
    know_font();
    let drawn = draw_svg(drawing);
    drawn.map_err(|e| Error::new(ErrorKind::Internal, format!("drawing: {e}")))
}

/// The piece of a line that stands before its name in a legend.
pub(super) fn mark(style: ShapeStyle) -> impl Fn((i32, i32)) -> PathElement<(i32, i32)> {
    move |(x, y)| PathElement::new([(x, y), (x + 24, y)], style)
}

/// Draws the legend of a chart, in letters of so many px.
pub(super) fn draw_legend<'a, B: DrawingBackend + 'a, C: CoordTranslate>(
    chart: &mut ChartContext<'a, B, C>,
    position: SeriesLabelPosition,
    size_px: u32,
) -> Drawn
where
    B::ErrorType: 'static,
{
    chart
        .configure_series_labels()
        .position(position)
        .legend_area_size(32)
        .label_font((FONT, size_px))
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    Ok(())
}

/// From the smallest to the largest of these, with a little room.
pub(super) fn extent(all: impl Iterator<Item = f64>) -> [f64; 2] {
    let [low, high] =
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    if !(low.is_finite() && high.is_finite()) {
        return [-1.0, 1.0];
    }
    let room = match 0.05 * (high - low).max(1e-9 * high.abs()) {
        // all are 0
        0.0 => 1.0,
        room => room,
    };
    [low - room, high + room]
}

fn know_font() {
    FONT_IS_KNOWN.call_once(|| {
        // the bytes are a font: tests draw with it
        let _known = register_font(FONT, FontStyle::Normal, FONT_BYTES).is_ok();
    });
}

fn is(file: &Path, ending: &str) -> bool {
    file.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

fn write_svg(out: &mut OutputFile, drawing: &impl Drawing) -> Drawn {
    out.write_all(draw_svg(drawing)?.as_bytes())?;
    Ok(())
}

fn draw_svg(drawing: &impl Drawing) -> std::result::Result<String, Box<dyn StdError>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, drawing.size_px()).into_drawing_area();
        root.fill(&WHITE)?;
        drawing.draw(&root)?;
        root.present()?;
    }
    Ok(svg)
}

fn write_png(out: &mut OutputFile, drawing: &impl Drawing) -> Drawn {
    let (width, height) = drawing.size_px();
    let mut rgb = vec![0; width as usize * height as usize * 3];
    {
        let root = BitMapBackend::with_buffer(&mut rgb, (width, height)).into_drawing_area();
        root.fill(&WHITE)?;
        drawing.draw(&root)?;
        root.present()?;
    }
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(())
}
