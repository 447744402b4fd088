use crate::gait::Gait;

#[test]
fn diagonal_feet_carry_in_turns_and_both_pairs_in_between() {
    let mut gait = Gait::default();
    let mut seen = [0; 3];
    for _ in 0..400 {
        gait.advance(true, 0.001);
        let carries = [0, 1, 2, 3].map(|leg| gait.feet[leg].load_share > 0.0);
        assert_eq!((carries[0], carries[1]), (carries[3], carries[2]));
        seen[usize::from(carries[0]) + usize::from(carries[1])] += 1;
    }
    // Of 400 ms, two pairs swing for 180 ms each; in the last 40 % of it they may carry early.
    assert_eq!(seen[0], 0);
    assert!((seen[1] - 216_i32).abs() <= 2 && (seen[2] - 184_i32).abs() <= 2, "{seen:?}");
}

#[test]
fn a_trot_starts_at_once_and_stops_when_all_feet_are_to_carry() {
    let mut gait = Gait::default();
    gait.advance(true, 0.001);
    // FR and RL begin in the middle of the clock, shortly before they swing.
    for _ in 0..30 {
        gait.advance(true, 0.001);
    }
    let ticks = (0..400).take_while(|_| {
        gait.advance(false, 0.001);
        gait.trotting
    });
    assert_eq!(ticks.count(), 168, "200 ms after the start, FR and RL carry again");
    assert!(gait.feet.iter().all(|foot| foot.load_share == 1.0));
}

#[test]
fn a_foot_that_bounces_carries_on_while_the_robot_stands() {
    let mut gait = Gait::default();
    gait.advance(false, 0.001);
    assert_eq!(gait.shares([false; 4], 0.001), [0.0; 4], "it has not touched the ground yet");
    assert_eq!(gait.shares([true; 4], 0.001), [1.0; 4]);
    let away = [false, true, true, true];
    let ticks = (0..100).take_while(|_| gait.shares(away, 0.001)[0] > 0.0).count();
    assert!((49..=50).contains(&ticks), "{ticks} ms");
    // a foot that trots has left the ground at once
    gait.shares([true; 4], 0.001);
    gait.advance(true, 0.001);
    let shares = gait.shares(away, 0.001);
    assert!(shares[0] == 0.0 && shares[3] > 0.0, "{shares:?}");
}
