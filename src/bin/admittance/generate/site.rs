//! What is asked for, and what is answered.

use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;

use super::draw::Draw;

/// A page, a file, or a call that the site has.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: String,
    /// Bytes of an answer, from and to.
    size: (u32, u32),
}

/// What was answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Bytes; `None` where there is no body.
    pub(super) size: Option<u32>,
}

/// All that can be asked for, what is asked for most first.
#[derive(Debug)]
pub(super) struct Site {
    routes: Vec<Route>,
    popular: WeightedAliasIndex<u64>,
}

const TOPICS: [&str; 20] = [
    "bread",
    "coffee",
    "tea",
    "cheese",
    "olives",
    "honey",
    "pasta",
    "rice",
    "spices",
    "chocolate",
    "fruit",
    "nuts",
    "wine",
    "beer",
    "juice",
    "soup",
    "salad",
    "fish",
    "cakes",
    "gifts",
];

impl Site {
    pub(super) fn new() -> Self {
        let mut routes = Vec::new();
        let mut add = |method, path: String, size| routes.push(Route { method, path, size });
        for (path, size) in [
            ("/", (9_000, 14_000)),
            ("/static/css/site.css", (31_204, 31_205)),
            ("/static/js/app.js", (188_411, 188_412)),
            ("/favicon.ico", (5_430, 5_431)),
            ("/static/img/logo.svg", (2_118, 2_119)),
            ("/robots.txt", (311, 312)),
            ("/search?q=", (6_000, 40_000)),
            ("/about", (7_000, 7_400)),
        ] {
            add("GET", path.into(), size);
        }
        for topic in TOPICS {
            add("GET", format!("/shop/{topic}"), (12_000, 48_000));
            add("GET", format!("/api/v1/stock?topic={topic}"), (180, 2_400));
            add("POST", format!("/api/v1/basket/{topic}"), (90, 700));
        }
        for item in 0..15 {
            for topic in TOPICS {
                add("GET", format!("/shop/{topic}/{}", 1000 + 37 * item), (8_000, 26_000));
                add("GET", format!("/static/img/{topic}-{}.jpg", 1000 + 37 * item), (14_000, 320_000));
            }
        }
        add("GET", "/download/catalogue.pdf".into(), (6_291_456, 6_291_457));
        let weights = (1..=routes.len() as u64).map(|place| 1_000_000 / (place + 3)).collect();
        let popular = WeightedAliasIndex::new(weights).expect("several hundred, none of them nothing");
        Self { routes, popular }
    }

    pub(super) fn route(&self, draw: &mut Draw) -> &Route {
        &self.routes[self.popular.sample(&mut draw.0)]
    }
}

impl Route {
    pub(super) fn answer(&self, draw: &mut Draw) -> Answer {
        let (least, end) = self.size;
        // What caches ask again is mostly unchanged; a call that changes something never is.
        let cached = if self.method == "GET" { 60 } else { 0 };
        let (status, (least, end)) = match draw.below(1000) {
            0..3 => (500, (534, 535)),
            3..5 => (502, (150, 151)),
            5..10 => (403, (199, 200)),
            10..28 => (404, (1_100, 1_400)),
            28..40 => (301, (162, 163)),
            40..44 => (206, (least.min(1_024), end.min(65_536))),
            draw if draw < 44 + cached => return Answer { status: 304, size: None },
            _ => (200, (least, end)),
        };
        Answer { status, size: Some(least + draw.below(end - least)) }
    }
}
