//! Bytes of adapters to frames and back. None of them fails on bytes from outside: what an adapter
//! would refuse is answered as the adapter answers it.

mod damiao_usb;
mod fdcanusb;
mod hex;
mod slcan;
mod socketcan;
mod socketcand;

pub use damiao_usb::DamiaoUsb;
pub use fdcanusb::Fdcanusb;
pub use slcan::Slcan;
pub use socketcan::{
    SOCKETCAN_CLASSIC_BYTES, SOCKETCAN_FD_BYTES, Socketcan, first_socketcan, from_socketcan,
    to_socketcan,
};
pub use socketcand::Socketcand;

use crate::CanFrame;

/// An adapter between a byte stream and a CAN bus, as the program sees it that opened the stream.
pub trait Adapter {
    /// What the adapter sends when the stream is opened.
    fn greet(&mut self, to_program: &mut Vec<u8>);

    /// Bytes from the program. Frames for the bus and answers to the program are appended.
    fn feed(&mut self, bytes: &[u8], to_bus: &mut Vec<CanFrame>, to_program: &mut Vec<u8>);

    /// A frame that the adapter has received from the bus at `time_ns`.
    fn deliver(&mut self, time_ns: u64, frame: &CanFrame, to_program: &mut Vec<u8>);
}
