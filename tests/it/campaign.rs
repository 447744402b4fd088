//! Campaigns: real daemons and controllers, real interruptions.

mod ends;
mod files;
mod goes_on;
mod recipes;
mod rows;
mod stage;
