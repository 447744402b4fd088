//! Messages as bytes: RustDDS adds and removes only their header.

use std::convert::Infallible;

use rustdds::RepresentationIdentifier as Encoding;
use rustdds::bytes::Bytes;
use rustdds::no_key::{Decode, DefaultDecoder, DeserializerAdapter, SerializerAdapter};

/// Bytes of the header of CDR.
const HEADER_BYTES: usize = 4;
const BIG_ENDIAN: [u8; HEADER_BYTES] = [0, 0, 0, 0];
const LITTLE_ENDIAN: [u8; HEADER_BYTES] = [0, 1, 0, 0];

/// The adapter that copies bytes. Messages have their header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw;

impl SerializerAdapter<Vec<u8>> for Raw {
    type Error = Infallible;

    fn output_encoding() -> Encoding {
        Encoding::CDR_LE
    }

    fn to_bytes(message: &Vec<u8>) -> Result<Bytes, Infallible> {
        Ok(Bytes::copy_from_slice(message.get(HEADER_BYTES..).unwrap_or_default()))
    }
}

impl DeserializerAdapter<Vec<u8>> for Raw {
    type Error = Infallible;
    type Decoded = Vec<u8>;

    fn supported_encodings() -> &'static [Encoding] {
        &[Encoding::CDR_LE, Encoding::CDR_BE]
    }

    fn transform_decoded(message: Vec<u8>) -> Vec<u8> {
        message
    }
}

impl DefaultDecoder<Vec<u8>> for Raw {
    type Decoder = Self;

    const DECODER: Self = Self;
}

impl Decode<'_, Vec<u8>> for Raw {
    type Error = Infallible;

    fn decode_bytes(self, body: &[u8], encoding: Encoding) -> Result<Vec<u8>, Infallible> {
        let big = encoding == Encoding::CDR_BE;
        let header = if big { BIG_ENDIAN } else { LITTLE_ENDIAN };
        Ok([&header, body].concat())
    }
}
