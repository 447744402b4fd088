//! Holds twelve CiA 402 drives of the daemon with the open master ethercrab. Arguments: the network
//! interface, and seconds to hold.

use std::error::Error;
use std::time::{Duration, Instant};

use ethercrab::std::{ethercat_now, tx_rx_task};
use ethercrab::subdevice_group::Op;
use ethercrab::{
    DefaultLock, MainDevice, MainDeviceConfig, PduStorage, RetryBehaviour, SubDeviceGroup, Timeouts,
};

const DRIVES: usize = 12;
/// A power of two.
const SLAVES_MAX: usize = 16;
/// Of the outputs (controlword, position, velocity, torque, torque offset, mode, a gap), and of the
/// inputs (statusword, position, velocity, torque, error code, mode, a gap).
const BYTES: usize = 16;
const IMAGE_BYTES: usize = 2 * BYTES * DRIVES;
const COUNTS_PER_RAD: f64 = (1 << 20) as f64 / std::f64::consts::TAU;
const HOLD_RAD: [f64; 3] = [0.0, 0.8, -1.5];
/// Cyclic synchronous position.
const CSP: u8 = 8;
const OPERATION_ENABLED: u16 = 0x27;
/// Watchdog of the outputs, in 100 µs, for a slow machine.
const WATCHDOG: (u16, u16) = (0x0420, 5000);

static STORAGE: PduStorage<16, 1100> = PduStorage::new();

type Group = SubDeviceGroup<SLAVES_MAX, IMAGE_BYTES, DefaultLock, Op>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (interface, seconds) = (words.next().ok_or("INTERFACE")?, words.next().ok_or("SECONDS")?);
    let seconds: f64 = seconds.parse()?;
    let (sender, receiver, pdu_loop) = STORAGE.try_split().map_err(|()| "split twice")?;
    let timeouts = Timeouts {
        pdu: Duration::from_millis(200),
        state_transition: Duration::from_secs(20),
        mailbox_echo: Duration::from_secs(2),
        mailbox_response: Duration::from_secs(5),
        ..Timeouts::default()
    };
    let config = MainDeviceConfig {
        dc_static_sync_iterations: 100,
        retry_behaviour: RetryBehaviour::Count(20),
        ..MainDeviceConfig::default()
    };
    let maindevice = MainDevice::new(pdu_loop, timeouts, config);
    let transport = tx_rx_task(&interface, sender, receiver)?;
    std::thread::spawn(move || smol::block_on(transport));
    smol::block_on(stand(&maindevice, seconds))
}

async fn stand(maindevice: &MainDevice<'static>, seconds: f64) -> Result<(), Box<dyn Error>> {
    let group = maindevice.init_single_group::<SLAVES_MAX, IMAGE_BYTES>(ethercat_now).await?;
    assert_eq!(group.len(), DRIVES);
    for (n, slave) in group.iter(maindevice).enumerate() {
        let identity = slave.identity();
        assert_eq!((slave.name(), identity.product_id), ("CiA 402 drive", 402));
        assert_eq!(slave.sdo_read::<u32>(0x1000, 0).await?, 0x2_0192);
        assert_eq!(slave.sdo_read::<u32>(0x1018, 4).await?, n as u32 + 1);
        assert!(slave.sdo_read::<u32>(0x2345, 0).await.is_err(), "an object that is not there");
        slave.register_write(WATCHDOG.0, WATCHDOG.1).await?;
    }
    let group = group.into_op(maindevice).await?;
    println!("found {DRIVES}, in OP");
    let (mut cycles, mut enabled, begin) = (0_u64, None, Instant::now());
    let mut start = [0.0; DRIVES];
    while begin.elapsed().as_secs_f64() < seconds {
        group.tx_rx(maindevice).await?;
        if enabled.is_none() {
            start = positions(&group, maindevice);
        }
        let share = enabled.map_or(0.0, |at: Instant| (at.elapsed().as_secs_f64() / 2.0).min(1.0));
        let mut all_enabled = true;
        for (n, slave) in group.iter(maindevice).enumerate() {
            let mut io = slave.io_raw_mut();
            let state = state_of(u16::from_le_bytes([io.inputs()[0], io.inputs()[1]]));
            all_enabled &= state == OPERATION_ENABLED;
            let target = start[n] + share * (HOLD_RAD[n % 3] - start[n]);
            command(io.outputs(), next_word(state), target);
        }
        if enabled.is_none() && all_enabled {
            enabled = Some(Instant::now());
        }
        cycles += 1;
        smol::Timer::after(Duration::from_millis(1)).await;
    }
    assert!(enabled.is_some(), "the drives were never enabled");
    for (n, q) in positions(&group, maindevice).into_iter().enumerate() {
        assert!((q - HOLD_RAD[n % 3]).abs() < 0.3, "drive {n}: {q} rad, not {}", HOLD_RAD[n % 3]);
    }
    println!("EtherCAT: ok, {cycles} cycles of {DRIVES} drives by ethercrab");
    Ok(())
}

/// Where the drives are, rad.
fn positions(group: &Group, maindevice: &MainDevice<'_>) -> [f64; DRIVES] {
    let mut all = [0.0; DRIVES];
    for (q, slave) in all.iter_mut().zip(group.iter(maindevice)) {
        let io = slave.io_raw();
        let counts: [u8; 4] = io.inputs()[2..6].try_into().unwrap();
        *q = f64::from(i32::from_le_bytes(counts)) / COUNTS_PER_RAD;
    }
    all
}

fn state_of(statusword: u16) -> u16 {
    statusword & if statusword & 0x20 == 0 { 0x4f } else { 0x6f }
}

/// The controlword that leads on from a state: shutdown, switch on, enable operation, or a reset.
const fn next_word(state: u16) -> u16 {
    match state {
        0x40 => 0x06,
        0x21 => 0x07,
        0x23 | OPERATION_ENABLED => 0x0f,
        _ => 0x80,
    }
}

fn command(outputs: &mut [u8], controlword: u16, q_rad: f64) {
    outputs.fill(0);
    outputs[..2].copy_from_slice(&controlword.to_le_bytes());
    outputs[2..6].copy_from_slice(&((q_rad * COUNTS_PER_RAD).round() as i32).to_le_bytes());
    outputs[14] = CSP;
}
