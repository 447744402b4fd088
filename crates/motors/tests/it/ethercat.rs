//! EtherCAT: a small master in the test, written from the layouts of IEC 61158-4-12, against a chain.
//! SOEM drives the same chain in `tests/it/daemon/ethercat.rs` of the daemon.

use super::at;
use super::bits::Numbers;
use hardstand_motors::buses::NodeFaults;
use hardstand_motors::drives::Cia402Config;
use hardstand_motors::ethercat::{EtherCatNetwork, Identity};
use hardstand_motors::{Condition, JointReading, SetPoint};

const READ_BY_POSITION: u8 = 1;
const WRITE_BY_POSITION: u8 = 2;
const READ: u8 = 4;
const WRITE: u8 = 5;
const READ_ALL: u8 = 7;
const WRITE_ALL: u8 = 8;
const BOTH_ALL: u8 = 9;
const READ_LOGICAL: u8 = 10;
const BOTH_LOGICAL: u8 = 12;
const READ_ONE_WRITE_OTHERS: u8 = 14;
/// Registers.
const STATION: u16 = 0x0010;
const AL_CONTROL: u16 = 0x0120;
const AL_STATUS: u16 = 0x0130;
const SYNC: u16 = 0x0800;
const COUNTS: f64 = (1 << 20) as f64 / std::f64::consts::TAU;
const MS: u64 = 1_000_000;

/// A chain with its clock and the readings of its joints.
struct Chain {
    network: EtherCatNetwork,
    now_ns: u64,
    readings: Vec<JointReading>,
}

fn word(bytes: &[u8]) -> u16 {
    u16::from_le_bytes([bytes[0], bytes[1]])
}

impl Chain {
    fn new(aliases: &[u16]) -> Self {
        let slave = |alias: &u16| (Identity::new(*alias), Cia402Config::default());
        let slaves: Vec<_> = aliases.iter().map(slave).collect();
        let readings = vec![JointReading::default(); slaves.len()];
        Self { network: EtherCatNetwork::new(&slaves, 5), now_ns: 0, readings }
    }

    fn advance(&mut self, ns: u64) {
        self.now_ns += ns;
        self.network.advance(self.now_ns, &self.readings);
    }

    /// A frame with one datagram, and what comes back within a millisecond.
    fn frame(&mut self, command: u8, address: u32, data: &[u8]) -> Option<(Vec<u8>, u16)> {
        let mut frame = vec![0xff; 6];
        frame.extend([1, 1, 1, 1, 1, 1, 0x88, 0xa4]);
        frame.extend((0x1000 | (data.len() + 12) as u16).to_le_bytes());
        frame.extend([command, 0]);
        frame.extend(address.to_le_bytes());
        frame.extend((data.len() as u16).to_le_bytes());
        frame.extend([0, 0]);
        frame.extend(data);
        frame.extend([0, 0]);
        assert!(self.network.send(self.now_ns, &frame));
        self.advance(MS);
        let back = self.network.received().next()?;
        assert_eq!(back.len(), frame.len());
        assert_eq!(back[6] & 2, 2, "the source is marked");
        // by position and of all: each slave adds 1 to the address
        let counts = [1, 2, 3, 7, 8, 9, 13].contains(&command);
        let passed = if counts { self.readings.len() as u16 } else { 0 };
        assert_eq!(word(&back[18..]), (address as u16).wrapping_add(passed), "command {command}");
        let end = 26 + data.len();
        Some((back[26..end].to_vec(), word(&back[end..])))
    }

    /// Data and working counter of an access to a register.
    fn ask(&mut self, command: u8, slave: u16, register: u16, data: &[u8]) -> (Vec<u8>, u16) {
        let address = u32::from(register) << 16 | u32::from(slave);
        self.frame(command, address, data).expect("an answer")
    }

    fn read(&mut self, slave: u16, register: u16, length: usize) -> Vec<u8> {
        let (data, counter) = self.ask(READ, slave, register, &vec![0; length]);
        assert_eq!(counter, 1, "read of {register:#x} of slave {slave}");
        data
    }

    fn write(&mut self, slave: u16, register: u16, data: &[u8]) {
        assert_eq!(self.ask(WRITE, slave, register, data).1, 1, "write of {register:#x}");
    }

    /// State and code after a request.
    fn state(&mut self, slave: u16, wanted: u16) -> (u16, u16) {
        self.write(slave, AL_CONTROL, &wanted.to_le_bytes());
        let status = self.read(slave, AL_STATUS, 6);
        (word(&status), word(&status[4..]))
    }

    fn sync_manager(&mut self, slave: u16, n: u16, start: u16, length: u16, control: u8) {
        let ([a, b], [c, d]) = (start.to_le_bytes(), length.to_le_bytes());
        self.write(slave, SYNC + 8 * n, &[a, b, c, d, control, 0, 1, 0]);
    }

    fn mailboxes(&mut self, slave: u16) {
        self.sync_manager(slave, 0, 0x1000, 256, 0x26);
        self.sync_manager(slave, 1, 0x1100, 256, 0x22);
        assert_eq!(self.state(slave, 2), (2, 0));
    }

    /// A message to the mailbox, and the answer's body.
    fn message(&mut self, slave: u16, kind: u8, body: &[u8]) -> (u8, Vec<u8>) {
        let mut message = (body.len() as u16).to_le_bytes().to_vec();
        message.extend([0, 0, 0, kind]);
        message.extend(body);
        message.resize(256, 0);
        self.write(slave, 0x1000, &message);
        assert_eq!(self.read(slave, SYNC + 13, 1)[0] & 8, 8, "an answer waits");
        let answer = self.read(slave, 0x1100, 256);
        assert_eq!(self.read(slave, SYNC + 13, 1)[0] & 8, 0, "it was taken");
        (answer[5] & 0xf, answer[6..6 + usize::from(word(&answer))].to_vec())
    }

    /// The value of an object, or why there is none.
    fn upload(&mut self, slave: u16, index: u16, sub: u8) -> Result<Vec<u8>, u32> {
        let [low, high] = index.to_le_bytes();
        let request = [0, 0x20, 0x40, low, high, sub, 0, 0, 0, 0];
        let (kind, answer) = self.message(slave, 3, &request);
        let long = || u32::from_le_bytes(answer[6..10].try_into().unwrap());
        assert_eq!((kind, &answer[3..6]), (3, &[low, high, sub][..]));
        match answer[2] {
            0x80 => Err(long()),
            0x41 => Ok(answer[10..10 + long() as usize].to_vec()),
            command => Ok(answer[6..10 - usize::from(command >> 2 & 3)].to_vec()),
        }
    }

    fn download(&mut self, slave: u16, index: u16, sub: u8, value: &[u8]) -> Result<(), u32> {
        let [low, high] = index.to_le_bytes();
        let command = 0x23 | (4 - value.len() as u8) << 2;
        let mut request = vec![0, 0x20, command, low, high, sub];
        request.extend(value);
        request.resize(10, 0);
        let answer = self.message(slave, 3, &request).1;
        if answer[2] == 0x60 {
            return Ok(());
        }
        Err(u32::from_le_bytes(answer[6..10].try_into().unwrap()))
    }

    /// Brings slave 7 to OP, with 16 bytes of outputs and of inputs from logical address 0 on.
    fn operate(&mut self) {
        self.ask(WRITE_BY_POSITION, 0, STATION, &7_u16.to_le_bytes());
        self.mailboxes(7);
        self.sync_manager(7, 2, 0x1200, 16, 0x64);
        self.sync_manager(7, 3, 0x1300, 16, 0x20);
        self.fmmu(7, 0, 0, 0x1200, 2);
        self.fmmu(7, 1, 16, 0x1300, 1);
        assert_eq!(self.state(7, 4), (4, 0));
        assert_eq!(self.state(7, 8), (8, 0));
    }

    fn fmmu(&mut self, slave: u16, n: u16, logical: u32, here: u16, kind: u8) {
        let mut fmmu = logical.to_le_bytes().to_vec();
        fmmu.extend([16, 0, 0, 7]);
        fmmu.extend(here.to_le_bytes());
        fmmu.extend([0, kind, 1, 0, 0, 0]);
        self.write(slave, 0x0600 + 16 * n, &fmmu);
    }

    /// One cycle: outputs by name, inputs as status, position and error code.
    fn cycle(&mut self, control: u16, mode: i8, more: Targets) -> (u16, i32, u16) {
        let mut data = control.to_le_bytes().to_vec();
        data.extend(more.position.to_le_bytes());
        data.extend(more.velocity.to_le_bytes());
        data.extend(more.torque.to_le_bytes());
        data.extend(more.torque_offset.to_le_bytes());
        data.extend([mode as u8, 0]);
        data.resize(32, 0);
        let (back, counter) = self.frame(BOTH_LOGICAL, 0, &data).unwrap();
        assert_eq!(counter, 3);
        let inputs = &back[16..];
        let position = i32::from_le_bytes(inputs[2..6].try_into().unwrap());
        (word(inputs), position, word(&inputs[12..]))
    }

    /// Through the states of the power stage, in a mode.
    fn enable(&mut self, mode: i8, targets: Targets) {
        for control in [6, 7, 15, 15] {
            self.cycle(control, mode, targets);
        }
        assert_eq!(self.cycle(15, mode, targets).0 & 0x6f, 0x27);
    }

    fn set_point(&mut self) -> SetPoint {
        self.network.set_point(0, self.now_ns, &self.readings[0]).unwrap()
    }
}

#[derive(Clone, Copy, Default)]
struct Targets {
    position: i32,
    velocity: i32,
    torque: i16,
    torque_offset: i16,
}

#[test]
fn slaves_are_counted_and_found_in_the_order_of_their_aliases() {
    let mut chain = Chain::new(&[30, 10, 20]);
    // the type of the controller, combined by OR; each slave adds 1
    assert_eq!(chain.ask(READ_ALL, 0, 0, &[0; 2]), (vec![0, 1], 3));
    for (place, alias) in [10_u16, 20, 30].into_iter().enumerate() {
        let place = (place as u16).wrapping_neg();
        assert_eq!(chain.ask(WRITE_BY_POSITION, place, STATION, &(100 + alias).to_le_bytes()).1, 1);
        let found = chain.ask(READ_BY_POSITION, place, 0x0012, &[0; 2]);
        assert_eq!(found, (alias.to_le_bytes().to_vec(), 1));
        assert_eq!(chain.read(100 + alias, 0x0012, 2), alias.to_le_bytes());
    }
    assert_eq!(chain.ask(READ, 99, 0, &[0; 2]), (vec![0; 2], 0));
    // reading counts 1 and writing 2
    assert_eq!(chain.ask(BOTH_ALL, 0, 0x0200, &[0; 2]).1, 9);
    // only the last one has nothing on its second port
    let open = [110, 120, 130].map(|slave| word(&chain.read(slave, 0x0110, 2)) & 0x0c00);
    assert_eq!(open, [0x0800, 0x0800, 0x0400]);
    // one reads its clock, and the others are told it
    let (time, counter) = chain.ask(READ_ONE_WRITE_OTHERS, 120, 0x0910, &[0; 8]);
    let time_ns = u64::from_le_bytes(time.try_into().unwrap());
    assert!(counter == 3 && time_ns > 0 && time_ns < chain.now_ns, "{counter} {time_ns}");
    // the receive times of the ports: what follows in the chain, there and back
    assert_eq!(chain.ask(WRITE_ALL, 0, 0x0900, &[0; 4]).1, 3);
    let times = chain.read(110, 0x0900, 8);
    let [first, second] = [0, 4].map(|n| word(&times[n..]));
    assert_eq!(second.wrapping_sub(first), 1200);
}

#[test]
fn the_eeprom_has_an_identity_a_checksum_and_categories() {
    let mut chain = Chain::new(&[3]);
    chain.ask(WRITE_BY_POSITION, 0, STATION, &[7, 0]);
    let mut image = Vec::new();
    while image.len() < 400 {
        let at = (image.len() / 2) as u16;
        chain.write(7, 0x0502, &[&[0, 1][..], &at.to_le_bytes(), &[0, 0]].concat());
        assert_eq!(word(&chain.read(7, 0x0502, 2)), 0x0040, "eight bytes, not busy, no error");
        image.extend(chain.read(7, 0x0508, 8));
    }
    // CRC-8 with polynomial 0x07 from 0xff: the remainder with its checksum is 0
    let crc = image[..15].iter().fold(0xff_u8, |crc, byte| {
        (0..8).fold(crc ^ byte, |c, _| if c & 0x80 == 0 { c << 1 } else { c << 1 ^ 7 })
    });
    assert_eq!(crc, 0);
    assert_eq!(image[0x10..0x20], [0, 0, 0, 0, 146, 1, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(image[0x30..0x3a], [0, 0x10, 0, 1, 0, 0x11, 0, 1, 4, 0]);
    let (mut at, mut kinds) = (0x80, Vec::new());
    while word(&image[at..]) != 0xffff {
        let (kind, words) = (word(&image[at..]), word(&image[at + 2..]));
        kinds.push((kind, words));
        if kind == 10 {
            assert_eq!(&image[at + 4..at + 19], b"\x04\x0dCiA 402 drive");
        }
        at += 4 + 2 * usize::from(words);
    }
    assert_eq!(kinds.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [10, 30, 40, 41]);
    assert_eq!(kinds[1].1, 16, "words of the general category");
    // a write to it is refused
    chain.write(7, 0x0502, &[1, 2, 0, 0, 0, 0]);
    assert_eq!(word(&chain.read(7, 0x0502, 2)), 0x2040);
}

#[test]
fn states_are_reached_one_by_one_and_refusals_have_their_codes() {
    let mut chain = Chain::new(&[1]);
    chain.ask(WRITE_BY_POSITION, 0, STATION, &[7, 0]);
    assert_eq!(chain.state(7, 8), (0x11, 0x0011), "from INIT to OP");
    assert_eq!(chain.state(7, 2), (0x11, 0x0011), "an error is acknowledged first");
    assert_eq!(chain.state(7, 0x12), (0x11, 0x0016), "there is no mailbox");
    assert_eq!(chain.state(7, 0x13), (0x11, 0x0013), "there is no bootstrap");
    assert_eq!(chain.state(7, 0x17), (0x11, 0x0012));
    assert_eq!(chain.state(7, 0x11), (1, 0));
    chain.mailboxes(7);
    assert_eq!(chain.state(7, 4), (0x12, 0x001d), "there are no outputs");
    chain.sync_manager(7, 2, 0x1200, 16, 0x64);
    assert_eq!(chain.state(7, 0x14), (0x12, 0x001e), "there are no inputs");
    chain.sync_manager(7, 3, 0x1300, 15, 0x20);
    assert_eq!(chain.state(7, 0x14), (0x12, 0x001e), "they are too short");
    chain.sync_manager(7, 3, 0x1300, 16, 0x20);
    // before SAFEOP the buffers are closed, and so is a mailbox without a message
    assert_eq!(chain.ask(READ, 7, 0x1300, &[0; 16]).1, 0);
    assert_eq!(chain.ask(READ, 7, 0x1100, &[0; 256]).1, 0);
    assert_eq!(chain.ask(WRITE, 7, 0x1200, &[0; 16]).1, 0);
    assert_eq!(chain.state(7, 0x14), (4, 0));
    assert_eq!(chain.ask(WRITE, 7, 0x1200, &[0; 16]).1, 1);
    assert_eq!(chain.ask(READ, 7, 0x1200, &[0; 16]).1, 0, "outputs are not read");
    assert_eq!(chain.state(7, 8), (8, 0));
    assert_eq!(chain.network.operational(), 1);
    assert_eq!(chain.state(7, 2), (2, 0));
}

#[test]
fn objects_are_read_and_written_over_the_mailbox() {
    let mut chain = Chain::new(&[1]);
    chain.ask(WRITE_BY_POSITION, 0, STATION, &[7, 0]);
    chain.mailboxes(7);
    assert_eq!(chain.upload(7, 0x1000, 0), Ok(vec![0x92, 0x01, 0x02, 0x00]));
    assert_eq!(chain.upload(7, 0x1008, 0), Ok(b"CiA 402 drive".to_vec()));
    assert_eq!(chain.upload(7, 0x1c00, 0), Ok(vec![4]));
    assert_eq!(chain.upload(7, 0x1600, 1), Ok(0x6040_0010_u32.to_le_bytes().to_vec()));
    assert_eq!(chain.upload(7, 0x2345, 0), Err(0x0602_0000));
    assert_eq!(chain.upload(7, 0x608f, 9), Err(0x0609_0011));
    assert_eq!(chain.download(7, 0x6041, 0, &[0, 0]), Err(0x0601_0002));
    assert_eq!(chain.download(7, 0x6060, 0, &[8, 0]), Err(0x0607_0010));
    assert_eq!(chain.download(7, 0x6060, 0, &[1]), Err(0x0609_0030), "no profile mode");
    assert_eq!(chain.download(7, 0x6060, 0, &[10]), Ok(()));
    assert_eq!(chain.download(7, 0x2001, 1, &f32::NAN.to_le_bytes()), Err(0x0609_0030));
    assert_eq!(chain.download(7, 0x2001, 2, &(-1.0_f32).to_le_bytes()), Err(0x0609_0030));
    assert_eq!(chain.upload(7, 0x6061, 0), Ok(vec![10]));
    chain.readings[0].tau_nm = -2.5;
    assert_eq!(chain.upload(7, 0x6077, 0), Ok((-250_i16).to_le_bytes().to_vec()));
    // a list of objects, and one of them
    let list = chain.message(7, 3, &[0, 0x80, 1, 0, 0, 0, 1, 0]).1;
    assert_eq!((list[1] >> 4, list[2]), (8, 2));
    let indices: Vec<u16> = list[8..].chunks(2).map(word).collect();
    assert_eq!(indices[..3], [0x1000, 0x1001, 0x1008]);
    assert!(indices.is_sorted_by_key(|index| *index >= 0x2000) && indices.contains(&0x6040));
    let entry = chain.message(7, 3, &[0, 0x80, 5, 0, 0, 0, 0x7a, 0x60, 0, 0]).1;
    assert_eq!(entry[6..16], [0x7a, 0x60, 0, 0, 4, 0, 32, 0, 0xff, 0]);
    assert_eq!(&entry[16..], b"Target position");
    // a protocol that there is not: an error message, not silence
    assert_eq!(chain.message(7, 4, &[1, 0]), (0, vec![1, 0, 2, 0]));
}

#[test]
fn a_mapping_is_changed_before_safeop_only_and_only_to_what_can_be_mapped() {
    let mut chain = Chain::new(&[1]);
    chain.ask(WRITE_BY_POSITION, 0, STATION, &[7, 0]);
    chain.mailboxes(7);
    let entry = |value: u32| value.to_le_bytes();
    assert_eq!(chain.download(7, 0x1600, 1, &entry(0x6040_0010)), Err(0x0800_0022));
    assert_eq!(chain.download(7, 0x1600, 0, &[0]), Ok(()));
    assert_eq!(chain.download(7, 0x1600, 1, &entry(0x6041_0010)), Err(0x0604_0041));
    assert_eq!(chain.download(7, 0x1600, 1, &entry(0x6040_0020)), Err(0x0604_0041));
    // a stiffness and a damping with each cycle, as of a leg
    for (sub, value) in
        [0x6040_0010, 0x2001_0120, 0x2001_0220, 0x607a_0020, 0x60b2_0010].into_iter().enumerate()
    {
        assert_eq!(chain.download(7, 0x1600, sub as u8 + 1, &entry(value)), Ok(()));
    }
    assert_eq!(chain.download(7, 0x1600, 0, &[5]), Ok(()));
    assert_eq!(chain.download(7, 0x6060, 0, &[8]), Ok(()));
    chain.sync_manager(7, 2, 0x1200, 16, 0x64);
    chain.sync_manager(7, 3, 0x1300, 16, 0x20);
    assert_eq!(chain.state(7, 4), (4, 0));
    assert_eq!(chain.download(7, 0x1600, 0, &[0]), Err(0x0800_0022));
    assert_eq!(chain.state(7, 8), (8, 0));
    for control in [6_u16, 15] {
        let mut outputs = control.to_le_bytes().to_vec();
        outputs.extend(25.0_f32.to_le_bytes());
        outputs.extend(0.5_f32.to_le_bytes());
        outputs.extend(((0.25 * COUNTS) as i32).to_le_bytes());
        outputs.extend(100_i16.to_le_bytes());
        chain.write(7, 0x1200, &outputs);
    }
    let SetPoint::Follow { q_rad, kp, kd, tau_ff_nm, .. } = chain.set_point() else { panic!() };
    assert_eq!((kp, kd, tau_ff_nm), (25.0, 0.5, 1.0));
    assert!((q_rad - 0.25).abs() < 1e-5, "{q_rad}");
}

#[test]
fn the_power_stage_follows_the_controlword() {
    let mut chain = Chain::new(&[1]);
    chain.operate();
    let states: Vec<u16> = [0, 6, 7, 15, 7, 15, 6, 0, 15, 6, 15, 2]
        .map(|control| {
            chain.cycle(control, 8, Targets::default());
            // inputs are those from before the outputs of the same frame
            let status = chain.cycle(control, 8, Targets::default()).0;
            status & if status & 0x20 == 0 { 0x4f } else { 0x6f }
        })
        .to_vec();
    let (off, ready, on, enabled) = (0x40, 0x21, 0x23, 0x27);
    let expected = [off, ready, on, enabled, on, enabled, ready, off, off, ready, enabled, 0x07];
    assert_eq!(states, expected);
    // quick stop: it brakes, and is off once it stands
    chain.readings[0].dq_rad_s = 1.0;
    assert!(matches!(chain.set_point(), SetPoint::Damped { .. }));
    chain.readings[0].dq_rad_s = 0.0;
    assert_eq!(chain.set_point(), SetPoint::Released);
    assert_eq!(chain.cycle(2, 8, Targets::default()).0 & 0x4f, 0x40);
}

#[test]
fn each_cyclic_mode_takes_its_target_and_the_offsets() {
    let mut chain = Chain::new(&[1]);
    chain.operate();
    chain.readings[0] = at(-0.5);
    let targets = Targets {
        position: COUNTS as i32,
        velocity: (2.0 * COUNTS) as i32,
        torque: 300,
        torque_offset: -50,
    };
    chain.enable(8, targets);
    let position = chain.cycle(15, 8, targets).1;
    assert!((f64::from(position) / COUNTS + 0.5).abs() < 1e-5, "{position}");
    let follow = |set_point| match set_point {
        SetPoint::Follow { q_rad, dq_rad_s, kp, kd, tau_ff_nm, .. } => {
            [q_rad, dq_rad_s, kp, kd, tau_ff_nm]
        }
        other => panic!("{other:?}"),
    };
    let near = |a: [f64; 5], b: [f64; 5]| {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5), "{a:?}, not {b:?}");
    };
    near(follow(chain.set_point()), [1.0, 0.0, 100.0, 3.0, -0.5]);
    chain.cycle(15, 9, targets);
    near(follow(chain.set_point()), [1.0, 2.0, 0.0, 3.0, -0.5]);
    chain.cycle(15, 10, targets);
    near(follow(chain.set_point()), [1.0, 0.0, 0.0, 0.0, 2.5]);
    // a mode that there is not changes nothing
    chain.cycle(15, 3, targets);
    near(follow(chain.set_point()), [1.0, 0.0, 0.0, 0.0, 2.5]);
    chain.cycle(15, 0, targets);
    assert_eq!(chain.set_point(), SetPoint::Released);
}

#[test]
fn outputs_that_stop_take_the_drive_out_of_operation() {
    let mut chain = Chain::new(&[1]);
    chain.operate();
    // 50 ms: 500 times 100 us
    chain.write(7, 0x0420, &500_u16.to_le_bytes());
    chain.enable(8, Targets::default());
    chain.advance(45 * MS);
    assert!(matches!(chain.set_point(), SetPoint::Follow { .. }));
    chain.cycle(15, 8, Targets::default());
    // reading alone does not feed it
    for _ in 0..60 {
        chain.frame(READ_LOGICAL, 16, &[0; 16]).unwrap();
    }
    let status = chain.read(7, AL_STATUS, 6);
    assert_eq!((word(&status), word(&status[4..])), (0x14, 0x001b));
    assert_eq!(chain.read(7, 0x0442, 1), [1]);
    chain.readings[0].dq_rad_s = 2.0;
    assert!(matches!(chain.set_point(), SetPoint::Damped { .. }), "it brakes");
    chain.advance(1_100 * MS);
    assert_eq!(chain.set_point(), SetPoint::Released, "for a second at most");
    // back to OP: the drive is in fault until it is reset
    assert_eq!(chain.state(7, 8), (0x14, 0x001b));
    assert_eq!(chain.state(7, 0x18), (8, 0));
    chain.cycle(15, 8, Targets::default());
    let (status, _, code) = chain.cycle(15, 8, Targets::default());
    assert_eq!((status & 0x4f, code), (0x08, 0x7500));
    chain.cycle(0x80, 8, Targets::default());
    let (status, _, code) = chain.cycle(0, 8, Targets::default());
    assert_eq!((status & 0x4f, code), (0x40, 0));
    chain.enable(8, Targets::default());
}

#[test]
fn what_a_lost_connection_does_is_the_masters_choice() {
    for (option, then) in [(0, 0x27), (1, 0x08), (2, 0x40), (3, 0x07)] {
        let mut chain = Chain::new(&[1]);
        chain.operate();
        assert_eq!(chain.download(7, 0x6007, 0, &[option, 0]), Ok(()));
        assert_eq!(chain.download(7, 0x605a, 0, &[6, 0]), Ok(()));
        chain.enable(8, Targets::default());
        assert_eq!(chain.state(7, 4), (4, 0));
        chain.set_point();
        let status = word(&chain.upload(7, 0x6041, 0).unwrap());
        let state = status & if status & 0x20 == 0 { 0x4f } else { 0x6f };
        assert_eq!(state, then, "option {option}");
    }
}

#[test]
fn faults_of_the_hardware_have_codes_and_stay_until_they_are_gone() {
    let mut chain = Chain::new(&[1]);
    chain.operate();
    chain.enable(8, Targets::default());
    chain.network.set_condition(0, Condition::OverTemperature, true);
    chain.set_point();
    let (status, _, code) = chain.cycle(15, 8, Targets::default());
    assert_eq!((status & 0x4f, code), (0x08, 0x4210));
    for control in [0, 0x80] {
        chain.cycle(control, 8, Targets::default());
    }
    assert_eq!(chain.cycle(0, 8, Targets::default()).0 & 0x4f, 0x08, "it is still hot");
    chain.cycle(0x80, 8, Targets::default());
    chain.network.set_condition(0, Condition::OverTemperature, false);
    for _ in 0..2 {
        let held = chain.cycle(0x80, 8, Targets::default()).0;
        assert_eq!(held & 0x4f, 0x08, "a reset is the edge of its bit");
    }
    chain.cycle(0, 8, Targets::default());
    chain.cycle(0x80, 8, Targets::default());
    chain.enable(8, Targets::default());
}

/// A frame that is damaged or lost on the cable to a slave has passed those before it.
#[test]
fn a_broken_cable_silences_the_slaves_behind_it() {
    for (loss_share, error_share) in [(1.0, 0.0), (0.0, 1.0)] {
        let mut chain = Chain::new(&[1, 2, 3]);
        for n in 0..3_u16 {
            chain.ask(WRITE_BY_POSITION, n.wrapping_neg(), STATION, &(n + 1).to_le_bytes());
        }
        chain.network.set_faults(1, NodeFaults { error_share, loss_share });
        assert_eq!(chain.frame(WRITE_ALL, 0x0200 << 16, &[0xaa, 0]), None);
        chain.network.set_faults(1, NodeFaults::default());
        let masks = [1, 2, 3].map(|slave| chain.read(slave, 0x0200, 1)[0]);
        assert_eq!(masks, [0xaa, 0, 0]);
        // checksum errors at the one that met it, forwarded ones after it
        let errors = [1, 2, 3]
            .map(|slave| (chain.read(slave, 0x0301, 1)[0], chain.read(slave, 0x0308, 1)[0]));
        let damaged = u8::from(error_share > 0.0);
        assert_eq!(errors, [(0, 0), (damaged, 0), (0, damaged)]);
        let statistics = chain.network.statistics();
        let counted = [statistics.lost, statistics.errors];
        assert_eq!(counted, [u64::from(loss_share > 0.0), u64::from(error_share > 0.0)]);
    }
}

#[test]
fn a_frame_takes_the_time_of_its_bytes_and_of_the_chain() {
    let mut chain = Chain::new(&[1, 2]);
    let mut frame = vec![0; 12];
    frame.extend([0x88, 0xa4, 14, 0x10, 7, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    frame.resize(60, 0);
    chain.network.send(0, &frame);
    chain.network.send(0, &frame);
    // 84 bytes of 80 ns, and two hops of 300 ns there and back
    let back_ns = 84 * 80 + 4 * 300;
    chain.network.advance(back_ns - 1, &chain.readings.clone());
    assert_eq!(chain.network.received().count(), 0);
    chain.network.advance(back_ns, &chain.readings.clone());
    assert_eq!(chain.network.received().count(), 1);
    chain.network.advance(2 * back_ns, &chain.readings.clone());
    assert_eq!(chain.network.received().count(), 1);
    assert_eq!(chain.network.statistics().busy_ns, 2 * 84 * 80);
    for _ in 0..1000 {
        chain.network.send(back_ns, &frame);
    }
    assert_eq!(chain.network.statistics().dropped, 1000 - 64);
}

#[test]
fn any_frame_is_taken_and_no_number_that_is_not_finite_reaches_a_joint() {
    let mut numbers = Numbers(8);
    let mut chain = Chain::new(&[1, 2]);
    chain.operate();
    for round in 0..60_000_u64 {
        let number = numbers.next();
        let mut data = numbers.bytes(number as usize % 40);
        // registers, mailboxes and process data of the slave in OP
        let offset = [0, 0x0120, 0x0500, 0x0600, 0x0800, 0x1000, 0x1200, 0x2ff0]
            [(number >> 8) as usize % 8]
            + (number >> 16 & 0x1f) as u16;
        let command = (number >> 24) as u8 % 16;
        if offset == 0x1000 && data.len() > 16 {
            // a message of CoE about an object of the drive
            data[..6].copy_from_slice(&[10, 0, 0, 0, 0, 3]);
            data[7] = 0x20;
            data[10] = 0x60;
            data.resize(256, 0);
        }
        let address = u32::from(offset) << 16 | u32::from(7 * (number >> 40 & 1) as u16);
        let _lost_or_back = chain.frame(command, address, &data);
        if number.is_multiple_of(7) {
            let noise = numbers.bytes(number as usize % 100);
            assert!(!chain.network.send(chain.now_ns, &noise));
        }
        for n in 0..2 {
            let now = at((number >> 32) as f64 * 1e-3);
            let set_point = chain.network.set_point(n, chain.now_ns, &now).unwrap();
            assert!(set_point.torque_nm(&now).is_finite(), "{round}: {set_point:?}");
        }
    }
    assert!(chain.network.statistics().malformed > 1000);
}
