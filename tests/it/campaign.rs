//! Campaigns: real daemons and controllers, real interruptions.

mod compared;
mod divided;
mod ends;
mod files;
mod goes_on;
mod kept;
mod recipes;
mod reports;
mod rows;
mod several;
mod stage;
