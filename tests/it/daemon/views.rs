//! Views: few, whole, and there for those who come late.

use std::time::{Duration, Instant};

use hardstand_client::Client;

use crate::common::process::{Observer, PATIENCE, Scene, serial};

#[test]
fn a_viewer_gets_whole_views_and_not_more_than_it_can_show() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&["--set", "sim.rate_hz=4000"]);
    let client = Client::connect(&scene.endpoint, "quadruped").unwrap();
    let waiting = client.standing_view(PATIENCE).unwrap();
    assert_eq!((waiting.state.tick, waiting.state.phase), (0, 0));
    let _controller = scene.controller("controller");
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick > 200);
    let views = client.views().unwrap();
    let first = views.next(PATIENCE).unwrap().expect("a view");
    let (begin, mut count, mut last) = (Instant::now(), 0, first.state.tick);
    while count < 60 {
        let view = views.next(PATIENCE).unwrap().expect("a view");
        assert!(view.state.tick > last);
        assert_eq!(view.state.tick, view.contacts.tick);
        (last, count) = (view.state.tick, count + 1);
        if view.state.authority == 1 {
            // the set-points and gains of `controller stand`
            assert_eq!((view.references[1].q, view.references[1].kp), (0.8, 100.0));
        }
    }
    assert!(begin.elapsed() > Duration::from_millis(900), "60 views in {:?}", begin.elapsed());
    scene.ctl(&["pause"], 0);
    let paused = observer.until("a pause", |s| s.phase == 3);
    let view = client.standing_view(PATIENCE).unwrap();
    assert_eq!((view.state.tick, view.state.digest), (paused.tick, paused.digest));
    scene.ctl(&["step", "7"], 0);
    let stepped = observer.until("the steps", |s| s.tick == paused.tick + 7 && s.phase == 3);
    let shown = std::iter::repeat_with(|| views.next(PATIENCE).unwrap().expect("a view"));
    let mut shown = shown.skip_while(|v| v.state.tick < stepped.tick);
    assert_eq!(shown.next().unwrap().state.digest, stepped.digest, "the last of them is shown");
}
