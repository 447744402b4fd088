//! The daemon as real processes: life, death, strangers, signals, rights.

mod attacks;
mod broken;
mod clocks;
mod control;
mod disk;
mod faults;
mod friction;
mod life;
mod links;
mod lockstep;
mod log_files;
mod loss;
mod no_qos;
mod partition;
mod playground;
mod rights;
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
