//
// Copyright (c) 2022 ZettaScale Technology
//
// This program and the accompanying materials are made available under the
// terms of the Eclipse Public License 2.0 which is available at
// http://www.eclipse.org/legal/epl-2.0, or the Apache License, Version 2.0
// which is available at https://www.apache.org/licenses/LICENSE-2.0.
//
// SPDX-License-Identifier: EPL-2.0 OR Apache-2.0
//
// Contributors:
//   ZettaScale Zenoh Team, <zenoh@zettascale.tech>
//
#[cfg(feature = "transport_auth")]
pub mod auth;
#[cfg(feature = "transport_compression")]
pub(crate) mod compression;
pub(crate) mod lowlatency;
#[cfg(feature = "transport_multilink")]
pub(crate) mod multilink;
pub(crate) mod patch;
pub(crate) mod qos;
pub(crate) mod region_name;
#[cfg(feature = "shared-memory")]
pub mod shm;
