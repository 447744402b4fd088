//! Frames of CAN and CAN FD, and packets of serial buses.

/// Lengths that a CAN FD frame can have. The index is its DLC.
pub const FD_LENGTHS: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];

/// Identifier of a CAN frame: 11 or 29 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanId {
    /// 11 bits.
    Standard(u16),
    /// 29 bits.
    Extended(u32),
}

impl CanId {
    /// The lower 11 bits of `id`.
    pub const fn standard(id: u32) -> Self {
        Self::Standard((id & 0x7ff) as u16)
    }

    /// The lower 29 bits of `id`.
    pub const fn extended(id: u32) -> Self {
        Self::Extended(id & 0x1fff_ffff)
    }

    /// The number, without its kind.
    pub const fn raw(self) -> u32 {
        match self {
            Self::Standard(id) => id as u32,
            Self::Extended(id) => id,
        }
    }

    /// Whether it has 29 bits.
    pub const fn is_extended(self) -> bool {
        matches!(self, Self::Extended(_))
    }
}

/// A frame of CAN or CAN FD: data, or a request for data (RTR, CAN only).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CanFrame {
    /// Identifier.
    pub id: CanId,
    /// Remote frame: it asks for the frame with this identifier and has no data.
    pub remote: bool,
    /// CAN FD.
    pub fd: bool,
    /// CAN FD with the faster bit rate in its data phase.
    pub bit_rate_switch: bool,
    len: u8,
    data: [u8; 64],
}

impl CanFrame {
    /// A CAN frame with 0 to 8 bytes; `None` if `data` is longer.
    pub fn classic(id: CanId, data: &[u8]) -> Option<Self> {
        (data.len() <= 8).then(|| Self::filled(id, data))
    }

    /// A CAN frame with 8 bytes, the form of most motor protocols.
    pub fn eight(id: CanId, data: [u8; 8]) -> Self {
        Self::filled(id, &data)
    }

    /// A remote frame that asks for `len` bytes; `None` above 8.
    pub fn request(id: CanId, len: usize) -> Option<Self> {
        let mut frame = Self::classic(id, [0; 8].get(..len)?)?;
        frame.remote = true;
        Some(frame)
    }

    /// A CAN FD frame. `data` is padded to the next length of [`FD_LENGTHS`]; `None` above 64.
    pub fn fd(id: CanId, bit_rate_switch: bool, data: &[u8], padding: u8) -> Option<Self> {
        let len = FD_LENGTHS.into_iter().find(|len| *len >= data.len())?;
        let mut frame = Self::filled(id, data);
        frame.data[data.len()..len].fill(padding);
        frame.len = len as u8;
        Some(Self { fd: true, bit_rate_switch, ..frame })
    }

    fn filled(id: CanId, data: &[u8]) -> Self {
        let mut bytes = [0; 64];
        bytes[..data.len()].copy_from_slice(data);
        let len = data.len() as u8;
        Self { id, remote: false, fd: false, bit_rate_switch: false, len, data: bytes }
    }

    /// The payload. Empty for a remote frame.
    pub fn data(&self) -> &[u8] {
        if self.remote { &[] } else { &self.data[..usize::from(self.len)] }
    }

    /// Bytes of payload, or those that a remote frame asks for.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether [`CanFrame::len`] is zero.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Data length code.
    pub fn dlc(&self) -> u8 {
        FD_LENGTHS.into_iter().position(|len| len == self.len()).unwrap_or(15) as u8
    }

    /// The first bits on the wire. Of two frames that start together, the smaller key wins.
    pub fn arbitration_key(&self) -> u32 {
        match self.id {
            CanId::Standard(id) => u32::from(id) << 21 | u32::from(self.remote) << 20,
            // recessive SRR and IDE: a standard frame with the same 11 bits wins
            CanId::Extended(id) => {
                (id >> 18) << 21 | 0b11 << 19 | (id & 0x3_ffff) << 1 | u32::from(self.remote)
            }
        }
    }
}

impl std::fmt::Debug for CanFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.remote { " RTR" } else { "" };
        let fd = if self.fd { " FD" } else { "" };
        write!(f, "{:x?}{kind}{fd} {:02x?}", self.id, self.data())
    }
}

/// A packet of a serial bus: at most 255 bytes.
pub type Packet = Vec<u8>;
