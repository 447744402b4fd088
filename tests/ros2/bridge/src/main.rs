//! zenoh-bridge-ros2dds without its command line: runs its plugin with the configuration in a file.
//!
//!   ros2-bridge CONFIG.json5

use std::error::Error;

use zenoh::internal::plugins::PluginsManager;
use zenoh::internal::runtime::RuntimeBuilder;
use zenoh_plugin_ros2dds::ROS2Plugin;
use zenoh_plugin_trait::Plugin;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    zenoh::init_log_from_env_or("zenoh=warn,zenoh_plugin_ros2dds=info");
    let path = std::env::args().nth(1).ok_or("usage: ros2-bridge CONFIG.json5")?;
    let mut config = zenoh::Config::from_file(path)?;
    // what the program of that name sets, too
    for key in ["timestamping/enabled", "adminspace/enabled", "plugins_loading/enabled"] {
        config.insert_json5(key, "true")?;
    }
    let mut plugins = PluginsManager::static_plugins_only();
    plugins.declare_static_plugin::<ROS2Plugin, &str>("ros2dds", true);
    let mut runtime = RuntimeBuilder::new(config).plugins_manager(plugins).build().await?;
    runtime.start().await?;
    println!("ready {} {}", ROS2Plugin::PLUGIN_LONG_VERSION, runtime.zid());
    tokio::signal::ctrl_c().await?;
    runtime.close().await
}
