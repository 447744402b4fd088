//! The daemon as real processes: life, death, strangers, signals, rights.

pub mod attacks;
mod broken;
mod bus_ports;
mod buses;
mod clocks;
mod control;
#[cfg(feature = "dds")]
mod dds_sockets;
mod disk;
mod faults;
mod friction;
mod lcm;
mod life;
mod links;
mod lockstep;
mod log_files;
mod loss;
mod lossy;
mod no_qos;
mod offsets;
mod packets;
mod partition;
mod peers;
mod playground;
mod port_faults;
mod rights;
mod shared_memory;
mod shown;
mod stalls;
mod status;
mod stops;
mod strangers;
mod subscribers;
mod surroundings;
mod velocity;
mod views;
mod walk;
