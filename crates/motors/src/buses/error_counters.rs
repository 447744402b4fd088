//! Fault confinement of a CAN node, by ISO 11898-1.

/// What a node may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorState {
    /// It destroys frames in which it sees an error.
    Active,
    /// It reports errors without destroying frames, and pauses after its own.
    Passive,
    /// It neither sends nor receives.
    BusOff,
}

/// The two counters of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounters {
    /// Transmit error counter.
    pub transmit: u16,
    /// Receive error counter.
    pub receive: u16,
}

impl ErrorCounters {
    /// Which rules apply to the node.
    pub fn state(&self) -> ErrorState {
        match (self.transmit, self.receive) {
            (256.., _) => ErrorState::BusOff,
            (128.., _) | (_, 128..) => ErrorState::Passive,
            _ => ErrorState::Active,
        }
    }

    /// The node's frame was destroyed.
    pub fn transmit_error(&mut self) {
        self.transmit = (self.transmit + 8).min(256);
    }

    /// No node has acknowledged. A node that is error-passive does not count this, so a node that
    /// is alone never goes bus-off.
    pub fn acknowledge_error(&mut self) {
        if self.state() == ErrorState::Active {
            self.transmit_error();
        }
    }

    /// The node's frame has arrived.
    pub fn transmitted(&mut self) {
        self.transmit = self.transmit.saturating_sub(1);
    }

    /// The node has seen an error in another node's frame.
    pub fn receive_error(&mut self) {
        self.receive = (self.receive + 1).min(255);
    }

    /// The node has received a frame.
    pub fn received(&mut self) {
        self.receive = if self.receive > 127 { 119 } else { self.receive.saturating_sub(1) };
    }
}
