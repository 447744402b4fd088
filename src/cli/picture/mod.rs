//! Files of drawings: SVG, or PNG with a font of our own, so that no font is needed here.

use std::error::Error as StdError;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend, WHITE,
};
use plotters::style::{FontStyle, register_font};

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
/// [`ErrorKind::Input`] if the name ends neither in `.svg` nor in `.png`; `option` is what gave it.
pub(super) fn check(option: &str, file: &Path) -> Result<()> {
    if is(file, "svg") || is(file, "png") {
        return Ok(());
    }
    let text = format!("{option} is {}; its name must end in .svg or .png", file.display());
    Err(Error::new(ErrorKind::Input, text))
}

/// Draws into a file; the end of its name chooses the format.
///
/// # Errors
/// [`ErrorKind::File`] if it cannot be written.
pub(super) fn write(file: &Path, drawing: &impl Drawing) -> Result<()> {
    FONT_IS_KNOWN.call_once(|| {
        // the bytes are a font: tests draw with it
        let _known = register_font(FONT, FontStyle::Normal, FONT_BYTES).is_ok();
    });
    let drawn = if is(file, "png") { write_png(file, drawing) } else { write_svg(file, drawing) };
    drawn.map_err(|e| failed(file, &*e))
}

pub(super) fn failed(file: &Path, e: &dyn StdError) -> Error {
    Error::new(ErrorKind::File, format!("plot {}: {e}", file.display()))
}

fn is(file: &Path, ending: &str) -> bool {
    file.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

fn write_svg(file: &Path, drawing: &impl Drawing) -> Drawn {
    let root = SVGBackend::new(file, drawing.size_px()).into_drawing_area();
    root.fill(&WHITE)?;
    drawing.draw(&root)?;
    root.present()?;
    Ok(())
}

fn write_png(file: &Path, drawing: &impl Drawing) -> Drawn {
    let (width, height) = drawing.size_px();
    let mut rgb = vec![0; width as usize * height as usize * 3];
    {
        let root = BitMapBackend::with_buffer(&mut rgb, (width, height)).into_drawing_area();
        root.fill(&WHITE)?;
        drawing.draw(&root)?;
        root.present()?;
    }
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(file)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(())
}
