//! Tests of writing, reading and rejecting catalogs.

use serde_json::{Value, json};

use super::writer::uuid;
use super::{VERSION, read, write};
use crate::frameworks::{Framework, FrameworkDraft, Requirement, RequirementDraft, shipped};
use crate::id::RequirementId;
use crate::time::Time;

fn at() -> Time {
    Time::from_millis(1_789_000_000_000)
}

fn draft(framework: &Framework) -> FrameworkDraft {
    let Framework { alias, name, description, version, source, licence, attribution, .. } = framework.clone();
    let requirements = framework.requirements.iter().cloned().map(|one| {
        let Requirement { code, title, theme, kind, objective, guidance, tags, control_id, group_id, .. } =
            one;
        RequirementDraft { code, title, theme, kind, objective, guidance, tags, control_id, group_id }
    });
    FrameworkDraft {
        alias: Some(alias),
        name,
        description,
        version,
        source,
        licence,
        attribution,
        requirements: requirements.collect(),
    }
}

/// The draft without ids that the writer derived.
fn without_ids(mut draft: FrameworkDraft) -> FrameworkDraft {
    for one in &mut draft.requirements {
        one.control_id.clear();
        one.group_id.clear();
    }
    draft
}

#[test]
fn ids_and_guidance_survive_a_round_trip() {
    let part = |id: &str, name: &str| json!({"id": id, "name": name, "prose": format!("The {name}.")});
    let given = catalog(&json!({
        "groups": [
            {"id": "fam.ac", "title": "Access", "controls": [
                {"id": "ac-1", "title": "Keys", "props": [{"name": "label", "value": "1.1"}],
                 "parts": [part("ac-1_smt", "statement"), part("ac-1_gdn", "guidance")]},
                {"id": "ac-2", "title": "Doors", "parts": [part("ac-2_gdn", "guidance")]}
            ]},
            {"id": "second", "title": "Access", "controls": [
                {"id": "zz_9", "title": "Locks", "props": [{"name": "label", "value": "9"}]}
            ]}
        ],
        "controls": [{"id": "top", "title": "Alone"}]
    }));
    let read_once = read(&given).expect("a catalog");
    let guidance: Vec<&str> = read_once.requirements.iter().map(|one| one.guidance.as_str()).collect();
    assert_eq!(guidance, ["", "The guidance.", "The guidance.", ""]);
    let shipped = shipped()[0].id;
    let framework = read_once.clone().into_framework(shipped, None, || RequirementId::from_u128(1));
    let written = write(&framework, at());
    let ids = |document: &Value| {
        let mut ids = Vec::new();
        gather(document, &mut ids);
        ids.retain(|id| !id.contains("_smt"));
        ids.sort();
        ids
    };
    assert_eq!(ids(&written["catalog"]), ids(&given["catalog"]));
    assert_eq!(without_alias(read(&written).expect("a catalog")), without_alias(read_once));
}

fn without_alias(draft: FrameworkDraft) -> FrameworkDraft {
    FrameworkDraft { alias: None, ..draft }
}

/// A small framework with these codes.
fn small(codes: &[&str]) -> Framework {
    let mut framework = Framework::clone(&shipped()[0]);
    framework.requirements.truncate(codes.len());
    for (one, code) in framework.requirements.iter_mut().zip(codes) {
        (*code).clone_into(&mut one.code);
    }
    framework
}

fn catalog(content: &Value) -> Value {
    let mut catalog = json!({"metadata": {"title": "A catalog", "version": "7"}});
    for (name, value) in content.as_object().expect("an object") {
        catalog[name] = value.clone();
    }
    json!({"catalog": catalog})
}

/// The objective of one control with these parameters and parts.
fn objective(params: &Value, parts: &Value) -> String {
    let control = json!({"id": "x-1", "title": "X", "params": params, "parts": parts});
    let read = read(&catalog(&json!({"controls": [control]}))).expect("a catalog");
    read.requirements[0].objective.clone()
}

fn wrongs(document: &Value) -> Vec<(String, String)> {
    read(document).expect_err("problems").into_iter().map(|one| (one.field, one.message)).collect()
}

#[test]
fn what_ships_reads_as_it_was_written() {
    assert!(!shipped().is_empty());
    for framework in shipped() {
        assert_eq!(
            read(&write(framework, at())).map(without_ids),
            Ok(draft(framework)),
            "{}",
            framework.name
        );
    }
}

#[test]
fn odd_frameworks_read_as_they_were_written() {
    let mut framework = small(&["5.1", "Ethics (X)", "5/1", "第一条", "r-5.1_smt", "5.1", "x"]);
    for (place, one) in framework.requirements.iter_mut().enumerate() {
        one.theme = ["B", "A", "B", "", "Ünï", "A", ""][place].to_owned();
        one.tags = vec!["two words".to_owned(), "plain".to_owned()];
    }
    framework.requirements[1].title = "Ethics".to_owned();
    framework.requirements[2].kind = "Control objective".to_owned();
    framework.requirements[3].objective = String::new();
    framework.requirements[4].objective = "One.\n\n- two\n- three }} {{ four".to_owned();
    framework.requirements[5].code = "5-1".to_owned();
    framework.source = "Line one\nline two".to_owned();
    framework.licence = String::new();
    framework.version = String::new();
    framework.description = String::new();
    let written = write(&framework, at());
    assert_eq!(read(&written).map(without_ids), Ok(draft(&framework)));

    let mut ids = Vec::new();
    gather(&written, &mut ids);
    let is_token = |id: &str| {
        id.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && id.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
    };
    assert!(ids.iter().all(|id| is_token(id)), "{ids:?}");
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "ids are unique: {ids:?}");
}

fn gather(value: &Value, ids: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            ids.extend(object.get("id").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| gather(value, ids));
        }
        Value::Array(all) => all.iter().for_each(|value| gather(value, ids)),
        _ => {}
    }
}

#[test]
fn a_catalog_is_written_the_way_oscal_wants_it() {
    let mut framework = small(&["164.308(a)(1)", "Art. 32"]);
    framework.requirements[1].theme = "Other".to_owned();
    let written = write(&framework, at());
    let catalog = &written["catalog"];
    assert_eq!(catalog["uuid"], write(&framework, Time::from_millis(0))["catalog"]["uuid"]);
    assert_eq!(catalog["metadata"]["last-modified"], "2026-09-10T00:26:40.000Z");
    assert_eq!(catalog["metadata"]["oscal-version"], VERSION);
    let one = &framework.requirements[0];
    let wanted = json!({
        "id": "r-164.308-a-1",
        "class": one.kind,
        "title": one.title,
        "props": [{"name": "label", "value": "164.308(a)(1)"}],
        "parts": [{"id": "r-164.308-a-1_smt", "name": "statement", "prose": one.objective}],
    });
    assert_eq!(catalog["groups"][0], json!({"id": "Clauses", "title": "Clauses", "controls": [wanted]}));
    assert_eq!(catalog["groups"][1]["controls"][0]["id"], "Art.32");
    assert_eq!(catalog.get("controls"), None, "no empty arrays");
    // Other tools derive the same UUID from this name.
    assert_eq!(uuid("http://www.ietf.org/rfc/rfc4122.txt"), "d0690b3c-b29d-52e7-81b0-d573b503f2d4");
}

#[test]
fn groups_and_controls_nest() {
    let read = read(&catalog(&json!({
        "groups": [{
            "id": "a",
            "title": "Outer",
            "controls": [{
                "id": "a-1",
                "class": "SP800-53",
                "title": "First",
                "props": [
                    {"name": "label", "class": "zero-padded", "value": "A-01"},
                    {"name": "label", "value": "A-1"},
                    {"name": "label", "ns": "https://example.com/ns", "value": "other"},
                ],
                "controls": [
                    {"id": "a-1.1", "title": "Enhanced", "props": [{"name": "label", "value": "A-1(1)"}]},
                    {"id": "a-1.2", "title": "Gone", "props": [{"name": "status", "value": "Withdrawn"}]},
                ],
            }],
            "groups": [
                {"title": "Inner", "controls": [{
                    "id": "a-2",
                    "title": "Context",
                    "props": [{"name": "label", "value": "Context (A-2)"}],
                }]},
                {"controls": [{"id": "a-3", "title": "Third"}]},
            ],
        }],
    })))
    .expect("a catalog");
    let found: Vec<_> = read
        .requirements
        .iter()
        .map(|one| (one.code.as_str(), one.title.as_str(), one.theme.as_str(), one.kind.as_str()))
        .collect();
    let wanted = [
        ("A-1", "First", "Outer", "SP800-53"),
        ("A-1(1)", "Enhanced", "Outer", "control"),
        ("A-2", "Context", "Inner", "control"),
        ("a-3", "Third", "Outer", "control"),
    ];
    assert_eq!(found, wanted);
    assert_eq!((read.name.as_str(), read.version.as_str(), read.alias), ("A catalog", "7", None));
}

#[test]
fn statements_become_text() {
    let item = |label: &str, prose: &str, parts: Value| json!({"name": "item", "prose": prose, "parts": parts, "props": [{"name": "label", "value": label}]});
    let params = json!([
        {"id": "p1", "label": "people or roles"},
        {"id": "p2", "label": "as selected", "select": {"how-many": "one-or-more", "choice": ["yearly", "{{ insert: param, p3 }}"]}},
        {"id": "p3", "label": "period"},
        {"id": "p4", "label": "unused", "values": ["30 days"]},
        {"id": "p5"},
        {"id": "p6", "label": "see {{ insert: param, p6 }}"},
    ]);
    let parts = json!([
        {"name": "overview", "prose": "Left out."},
        {"name": "statement", "prose": "The organization:", "parts": [
            item("a.", "Tells {{ insert: param, p1 }}:", json!([
                item("1.", " {{ insert: param, p2 }} what it plans; and", json!([])),
                {"name": "item", "prose": "in\n\n   lines within {{p4}}, {{ insert: param, p5 }} or {{ insert: param, p9 }};"},
            ])),
            item("b.", "Keeps {{ this }} and {{ insert: param, p6 }}.", Value::Null),
        ]},
        {"name": "guidance", "prose": "Left out too."},
    ]);
    let wanted = "The organization:\n\
        a. Tells [people or roles]:\n  \
          1. [one or more of: yearly; [period]] what it plans; and\n  \
          - in\n    lines within 30 days, […] or […];\n\
        b. Keeps {{ this }} and [see […]].";
    assert_eq!(objective(&params, &parts), wanted);
    let other = json!([
        {"name": "assessment-method", "prose": "Examine."},
        {"name": "overview"},
        {"name": "guidance", "prose": "Do it."},
    ]);
    assert_eq!(objective(&params, &other), "Do it.", "without a statement");
}

#[test]
fn long_text_is_cut() {
    let statement = |prose: &str| json!([{"name": "statement", "prose": prose}]);
    assert_eq!(objective(&json!([]), &statement(&"ä".repeat(10_000))), "ä".repeat(10_000));
    let read = objective(&json!([]), &statement(&"ä".repeat(10_001)));
    assert_eq!(read, format!("{}…", "ä".repeat(9_999)));
    // Parameters that expand into each other do not grow without bound.
    let params: Vec<Value> = (0..50)
        .map(|n| json!({"id": format!("p{n}"), "label": format!("{{{{ insert: param, p{} }}}}", n + 1).repeat(50)}))
        .collect();
    let read = objective(&json!(params), &statement(&"{{ insert: param, p0 }}".repeat(100_000)));
    assert_eq!(read.chars().count(), 10_000);
}

#[test]
fn all_problems_are_named() {
    let control = |id: &str, title: &str| json!({"id": id, "title": title});
    let document = json!({"catalog": {
        "metadata": {"title": 5},
        "params": "ignored",
        "controls": [
            control("a", "A"),
            control(&"b".repeat(101), &"t".repeat(501)),
            control("a", "Again"),
            "nothing",
            {"title": "No id", "parts": {}},
            {"id": "c", "props": [{"name": "label", "value": 1}]},
        ],
        "groups": [{"title": "G", "controls": [control("a", "Third")]}],
    }});
    let wanted = [
        ("catalog.metadata.title", "must be a string"),
        ("catalog.metadata.title", "must not be empty"),
        ("catalog.controls[3]", "must be an object"),
        ("catalog.controls[1].title", "must have at most 500 characters; it has 501"),
        ("catalog.controls[1].id", "must have at most 100 characters; it has 101"),
        ("catalog.controls[2].id", "\"a\" is already the code of catalog.controls[0]"),
        ("catalog.controls[4].id", "must not be empty"),
        ("catalog.controls[4].parts", "must be an array"),
        ("catalog.controls[5].props[0].value", "must be a string"),
        ("catalog.controls[5].title", "must not be empty"),
        ("catalog.groups[0].controls[0].id", "\"a\" is already the code of catalog.controls[0]"),
    ];
    assert_eq!(wrongs(&document), wanted.map(|(field, message)| (field.to_owned(), message.to_owned())));

    let message = |document: Value| {
        let mut wrongs = wrongs(&document);
        assert_eq!(wrongs.len(), 1);
        wrongs.remove(0)
    };
    for document in [json!(null), json!([]), json!({"catalogue": {}})] {
        assert!(message(document).1.starts_with("is missing"));
    }
    assert!(message(json!({"profile": {}})).1.ends_with("a profile"));
    assert_eq!(message(json!({"catalog": []})).1, "must be an object");
    assert!(message(catalog(&json!({}))).1.starts_with("must hold at least one control"));
}

#[test]
fn limits_hold() {
    let controls =
        |count: usize| (0..count).map(|n| json!({"id": format!("c{n}"), "title": "C"})).collect::<Value>();
    let read_one = |count| read(&catalog(&json!({"controls": controls(count)})));
    assert_eq!(read_one(5000).map(|read| read.requirements.len()), Ok(5000));
    let wrong = read_one(5001).expect_err("too many");
    assert_eq!((wrong.len(), wrong[0].message.as_str()), (1, "must hold at most 5000 controls"));

    let nested = |depth: usize| {
        let one = |n: usize| json!({"id": format!("c{n}"), "title": "C"});
        let outer = (1..depth).fold(one(0), |inner, n| {
            let mut outer = one(n);
            outer["controls"] = json!([inner]);
            outer
        });
        read(&catalog(&json!({"controls": [outer]})))
    };
    assert_eq!(nested(20).map(|read| read.requirements.len()), Ok(20));
    let wrong = nested(21).expect_err("too deep");
    assert_eq!(
        (wrong.len(), wrong[0].message.as_str()),
        (1, "groups and controls can be nested at most 20 deep")
    );

    let parts = |depth: usize| {
        let inner = json!({"name": "item", "prose": "inner"});
        let outer = (0..depth).fold(inner, |inner, _| json!({"name": "statement", "parts": [inner]}));
        read(&catalog(&json!({"controls": [{"id": "c", "title": "C", "parts": [outer]}]})))
    };
    assert!(parts(20).is_ok());
    assert_eq!(parts(21).expect_err("too deep")[0].message, "parts can be nested at most 20 deep");

    let same: Value = (0..500).map(|_| json!({"id": "c", "title": "C"})).collect();
    assert_eq!(wrongs(&catalog(&json!({"controls": same}))).len(), 100);
}
