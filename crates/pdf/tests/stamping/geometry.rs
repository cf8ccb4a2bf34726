use crate::build::Sample;
use crate::read::Stamped;

/// Stamps a page with these entries, in a tree with these entries, and returns the positions of the label.
fn placed(tree: &str, page: &str) -> Vec<[f32; 6]> {
    Stamped::new(&Sample::new(tree, &[page]).bytes()).placements(1)
}

/// The angle of the text, in degrees.
fn angle([a, b, ..]: [f32; 6]) -> f32 {
    b.atan2(a).to_degrees().rem_euclid(360.0)
}

#[test]
fn the_stamp_is_diagonal_to_the_reader_however_the_page_is_turned() {
    for (rotate, seen) in [
        ("0", 0.0),
        ("90", 90.0),
        ("180", 180.0),
        ("270", 270.0),
        ("-90", 270.0),
        ("450", 90.0),
        ("7", 0.0),
        ("90.0", 90.0),
        ("-90.", 270.0),
        ("179.9999", 180.0),
        ("(90)", 0.0),
    ] {
        let placed = placed("", &format!("/MediaBox [0 0 595 842] /Rotate {rotate}"));
        let turned = (angle(placed[0]) - seen).rem_euclid(360.0);
        assert!(placed.len() == 1 && (20.0..=60.0).contains(&turned), "{rotate}: {turned}");
    }
    let inherited = placed("/Rotate 90 /MediaBox [0 0 595 842]", "");
    assert_eq!(inherited, placed("", "/MediaBox [0 0 595 842] /Rotate 90"));
    let own = placed("/Rotate 90 /MediaBox [0 0 10 10]", "/Rotate 0 /MediaBox [0 0 595 842]");
    assert_eq!(own, placed("", "/MediaBox [0 0 595 842]"));
}

#[test]
fn the_stamp_is_on_what_can_be_seen_of_the_page() {
    let whole = placed("", "/MediaBox [0 0 400 400]")[0];
    let moved = placed("", "/MediaBox [-1000 2000 -600 2400]")[0];
    assert_eq!((moved[4], moved[5]), (whole[4] - 1000.0, whole[5] + 2000.0));
    let cropped = placed("", "/MediaBox [0 0 595 842] /CropBox [100 200 500 600]")[0];
    assert_eq!((cropped[0], cropped[4], cropped[5]), (whole[0], whole[4] + 100.0, whole[5] + 200.0));
    assert_eq!(placed("/CropBox [100 200 500 600]", "/MediaBox [0 0 595 842]")[0], cropped);
    let mut referred = Sample::new("", &["/MediaBox 7 0 R"]);
    referred.set(7, "[0 0 8 0 R 400]");
    referred.set(8, "400");
    assert_eq!(Stamped::new(&referred.bytes()).placements(1)[0], whole);
}

#[test]
fn pages_of_any_size_are_stamped() {
    let letter = placed("", "");
    assert_eq!(letter, placed("", "/MediaBox [0 0 612 792]"));
    for odd in ["/MediaBox [0 0 0 0]", "/MediaBox [1 2]", "/MediaBox 5", "/MediaBox [/A /B /C /D]"] {
        assert_eq!(placed("", odd), letter, "{odd}");
    }
    assert_eq!(placed("", "/MediaBox [0 0 50 50]").len(), 1);
    assert_eq!(placed("", "/MediaBox [0 0 842 595] /UserUnit 10").len(), 1);
    assert!(placed("", "/MediaBox [0 0 14400 14400]").len() > 40);
    let long = placed("", "/MediaBox [0 0 595 12000]");
    assert!(long.len() > 8);
    let heights: Vec<_> = long.iter().map(|matrix| matrix[5]).collect();
    assert!(heights.windows(2).all(|pair| (pair[1] - pair[0] - 12_000.0 / long.len() as f32).abs() < 1.0));
}

#[test]
fn pages_of_one_size_share_what_is_added() {
    let page = "/MediaBox [0 0 595 842] /Contents 6 0 R";
    let size = |count: usize| {
        let mut sample = Sample::new("", &vec![page; count]);
        sample.stream(6, "", b"0 0 10 10 re f");
        (sample.bytes().len(), Stamped::new(&sample.bytes()).bytes.len())
    };
    let (one, many) = (size(1), size(50));
    let (added_to_one, added_to_many) = (one.1 - one.0, many.1 - many.0);
    assert!(added_to_many < added_to_one + 50 * 120, "{added_to_one} {added_to_many}");
}
