//! The vendors: added over the year, assessed and reviewed.

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::registers;
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::registers::vendors::VendorCategory::{
    Cloud, Finance, Hr, Infrastructure, Marketing, Other, Sales, SoftwareAsAService,
};
use attestry_domain::registers::vendors::{Vendor, VendorCategory, VendorPatch, VendorStatus};
use futures_util::FutureExt;

use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::risks::rating;
use crate::story::{Story, text};

/// The progress of the assessment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    New,
    Begun,
    Assessed,
}

use Stage::{Assessed, Begun, New};

struct Row {
    name: &'static str,
    description: &'static str,
    category: VendorCategory,
    manager: &'static str,
    ago: i64,
    inherent: [usize; 2],
    residual: [usize; 2],
    stage: Stage,
    sub_processor: bool,
}

macro_rules! vendors {
    ($($name:literal $category:ident $manager:ident $ago:literal
        $li:literal x $ii:literal to $lr:literal x $ir:literal $stage:ident $sub:ident $description:literal;)*) => {
        const ROWS: &[Row] = &[$(Row {
            name: $name,
            description: $description,
            category: $category,
            manager: stringify!($manager),
            ago: $ago,
            inherent: [$li, $ii],
            residual: [$lr, $ir],
            stage: $stage,
            sub_processor: vendors!(@$sub),
        }),*];
    };
    (@sub) => { true };
    (@no) => { false };
}

vendors! {
    "Cumulo Cloud" Cloud yuki 353 3 x 5 to 2 x 4 Assessed sub "Computing and databases of fleet control, in Frankfurt and Dublin.";
    "Harborstone Hosting" Infrastructure yuki 353 2 x 4 to 2 x 3 Assessed sub "Second region and offline copies of backups.";
    "Gitgrove" SoftwareAsAService tomasz 352 3 x 5 to 2 x 4 Assessed no "Source repositories and build runners.";
    "Postmark Lane" SoftwareAsAService mateo 351 3 x 3 to 2 x 2 Assessed sub "Sends notifications to operators by mail.";
    "Pagerwise" SoftwareAsAService yuki 350 2 x 4 to 2 x 2 Assessed no "Calls whoever is on duty.";
    "Lidarium" Other meiling 349 3 x 5 to 3 x 4 Assessed no "Makes the lidar sensors.";
    "Getriebe Mahler" Other meiling 348 3 x 5 to 2 x 5 Assessed no "Makes the gearboxes.";
    "Voltaic Cells" Other sofia 348 3 x 5 to 1 x 5 Assessed no "Makes the batteries.";
    "Paylane Payroll" Hr liam 347 3 x 4 to 2 x 3 Assessed no "Pays salaries in five countries.";
    "Ledgerly" Finance seun 346 2 x 4 to 2 x 3 Assessed no "Accounting and invoices.";
    "Deskwell" SoftwareAsAService mateo 343 4 x 3 to 2 x 3 Assessed sub "Tickets of customers’ support.";
    "Telescope Logs" SoftwareAsAService yuki 338 3 x 4 to 2 x 3 Assessed sub "Keeps the logs of robots and servers.";
    "Kestrel Identity" SoftwareAsAService priya 336 3 x 5 to 1 x 5 Assessed no "Single sign-on for everybody.";
    "Fjordline Telecom" Infrastructure yuki 331 3 x 3 to 2 x 3 Assessed no "Lines between the plants and to robots.";
    "Brightmail Campaigns" Marketing fatima 318 4 x 2 to 3 x 2 Assessed no "News to customers.";
    "Rolodesk" Sales fatima 316 4 x 3 to 2 x 3 Assessed sub "Contacts and offers.";
    "Contoura CAD" SoftwareAsAService jonas 311 3 x 4 to 2 x 3 Assessed no "Design of the drive train.";
    "Sentry Gate" Other erik 306 2 x 3 to 2 x 2 Assessed no "Guards and alarm at both plants.";
    "Shred & Sons" Other erik 299 3 x 3 to 1 x 3 Assessed no "Destroys paper and disks.";
    "Redwing Security" Other priya 294 2 x 3 to 1 x 3 Assessed no "Tests our defences once a year.";
    "Nordtrust Insurance" Finance seun 288 1 x 3 to 1 x 3 Assessed no "Product liability and cyber cover.";
    "Hirepath" Hr liam 281 4 x 3 to 2 x 3 Assessed no "Applications for jobs.";
    "Lernwerk" Hr liam 274 3 x 2 to 2 x 1 Assessed no "Courses about security and safety.";
    "Signet Sign" SoftwareAsAService claire 268 3 x 3 to 2 x 2 Assessed no "Signatures on contracts.";
    "Boardbox" SoftwareAsAService amara 261 2 x 4 to 1 x 4 Assessed no "Papers of the board.";
    "Mapfold" SoftwareAsAService noor 246 3 x 3 to 2 x 3 Assessed sub "Turns floor plans into maps for robots.";
    "Stackvault" SoftwareAsAService priya 233 3 x 5 to 1 x 5 Assessed no "Password manager and secrets.";
    "Ostrava Electronics" Other meiling 219 3 x 4 to 3 x 3 Assessed no "Assembles controller boards.";
    "Translingo" SoftwareAsAService mateo 205 4 x 3 to 2 x 2 Assessed sub "Translates tickets.";
    "Greenfleet Leasing" Finance seun 190 2 x 2 to 2 x 1 Assessed no "Leases robots to customers.";
    "Tidewater Analytics" SoftwareAsAService noor 172 4 x 3 to 3 x 3 Begun no "Dashboards about picks and routes.";
    "Cartage & Kline" Other jonas 158 3 x 3 to 2 x 3 Assessed no "Carries robots to customers.";
    "Adler Law" Other claire 149 1 x 3 to 1 x 3 Assessed no "Advises on contracts and data protection.";
    "Minutely" SoftwareAsAService claire 131 4 x 3 to 4 x 3 Begun no "Writes minutes of meetings.";
    "Copperwire Networks" Infrastructure yuki 114 3 x 3 to 3 x 2 Begun no "Switches and radio for the new plant.";
    "Pixelforge Studio" Marketing fatima 97 2 x 2 to 2 x 2 Begun no "Films and pictures.";
    "Simulacra Labs" SoftwareAsAService tomasz 73 3 x 3 to 3 x 3 Begun no "Simulates warehouses for tests.";
    "Batteryback Recycling" Other sofia 48 2 x 3 to 2 x 3 New no "Takes back used batteries.";
    "Chatterlane AI" SoftwareAsAService rafael 21 4 x 4 to 4 x 4 New no "Assistant for developers, asked for by three teams.";
    "Ventura Catering" Other erik 6 1 x 1 to 1 x 1 New no "Runs the canteen of the new plant.";
}

pub(crate) fn plan(plan: &mut Plan) {
    for (place, row) in ROWS.iter().enumerate() {
        let by = if place.is_multiple_of(3) { OWNER } else { "claire" };
        plan.on(row.ago, move |story| add(story, row, by).boxed_local());
        if row.stage != New {
            plan.on(row.ago * 9 / 10, move |story| begin(story, row).boxed_local());
        }
        if row.stage == Assessed {
            plan.on(row.ago * 8 / 10, move |story| assess(story, row).boxed_local());
        }
    }
}

fn website(name: &str) -> String {
    let host: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    format!("https://{host}.example")
}

async fn add(story: &mut Story, row: &'static Row, by: &str) -> Result<()> {
    let new = VendorPatch {
        name: Some(text(row.name)?),
        description: Some(text(row.description)?),
        category: Some(row.category),
        website: Patch::Value(text(&website(row.name))?),
        assignee_id: Patch::Value(story.member(row.manager)?),
        is_sub_processor: Some(row.sub_processor),
        ..VendorPatch::default()
    };
    let made = registers::create::<Vendor>(&story.ctx, &story.by::<grant::VendorCreate>(by)?, new).await?;
    story.vendors.insert(row.name, made.id);
    Ok(())
}

async fn update(story: &Story, row: &Row, by: &str, patch: VendorPatch) -> Result<()> {
    let id = *story.vendors.get(row.name).context("the vendor is not there yet")?;
    let scope = story.by::<grant::VendorUpdate>(by)?;
    registers::update::<Vendor>(&story.ctx, &scope, id, patch, Precondition::default()).await?;
    Ok(())
}

async fn begin(story: &mut Story, row: &'static Row) -> Result<()> {
    let (inherent_probability, inherent_impact) = rating(row.inherent);
    let patch = VendorPatch {
        status: Some(VendorStatus::InProgress),
        inherent_probability,
        inherent_impact,
        residual_probability: inherent_probability,
        residual_impact: inherent_impact,
        ..VendorPatch::default()
    };
    update(story, row, OWNER, patch).await
}

async fn assess(story: &mut Story, row: &'static Row) -> Result<()> {
    let (residual_probability, residual_impact) = rating(row.residual);
    // Once a year; the first reviews are due.
    let patch = VendorPatch {
        status: Some(VendorStatus::Assessed),
        residual_probability,
        residual_impact,
        review_date: Patch::Value(story.day(row.ago * 8 / 10 - 280)),
        ..VendorPatch::default()
    };
    update(story, row, APPROVER, patch).await
}
