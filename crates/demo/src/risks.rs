//! The risk register: risks identified over the year, rated, treated and rated again.

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::registers::{self, risk_criteria};
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::date::Date;
use attestry_domain::registers::risks::RiskCategory::{
    Customer, Fraud, Governance, Operations, Other, People, Regulatory, Reporting, Resilience, Technology,
    VendorManagement,
};
use attestry_domain::registers::risks::RiskStatus::{Closed, Open, Pending};
use attestry_domain::registers::risks::TreatmentStrategy::{Accept, Avoid, Mitigate, Transfer};
use attestry_domain::registers::risks::{Risk, RiskCategory, RiskPatch, RiskStatus, TreatmentStrategy};
use attestry_domain::registers::scales::{Impact, Likelihood};
use attestry_domain::words::Department;
use futures_util::FutureExt;

use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};

pub(crate) struct Row {
    pub(crate) title: &'static str,
    description: &'static str,
    category: RiskCategory,
    department: Department,
    owner: &'static str,
    pub(crate) ago: i64,
    /// Likelihood and impact, 1 to 5.
    inherent: [usize; 2],
    residual: [usize; 2],
    strategy: TreatmentStrategy,
    status: RiskStatus,
    treatment: &'static str,
    /// The codes of the controls that treat it.
    pub(crate) controls: &'static [&'static str],
}

macro_rules! risks {
    ($($title:literal $description:literal
        $category:ident $department:ident $owner:ident $ago:literal
        $li:literal x $ii:literal to $lr:literal x $ir:literal
        $strategy:ident $status:ident $treatment:literal [$($control:literal)*];)*) => {
        pub(crate) const ROWS: &[Row] = &[$(Row {
            title: $title,
            description: $description,
            category: $category,
            department: Department::$department,
            owner: stringify!($owner),
            ago: $ago,
            inherent: [$li, $ii],
            residual: [$lr, $ir],
            strategy: $strategy,
            status: $status,
            treatment: $treatment,
            controls: &[$($control),*],
        }),*];
    };
}

risks! {
    "Backups cannot be restored within eight hours"
    "The fleet database is restored by hand from three places, and nobody has done it under pressure."
    Resilience Itsm yuki 356 4 x 5 to 2 x 4 Mitigate Open
    "Nightly restores into a test cluster, a written runbook, and a full exercise each quarter." ["8.13" "5.30"];
    "A stolen laptop exposes customer site plans"
    "Field engineers carry floor plans and network drawings of customers’ warehouses."
    Technology It mateo 355 4 x 4 to 2 x 2 Mitigate Open
    "Disk encryption enforced by the device manager, remote wipe, and plans kept in the document store only." ["8.1" "7.9"];
    "Somebody who left keeps access to production"
    "Accounts in the cloud console and the source repositories are closed by hand."
    Technology It rafael 355 4 x 4 to 2 x 3 Mitigate Open
    "All systems behind single sign-on; leavers are checked every quarter against the list from HR." ["5.18" "5.16"];
    "A robot moves while a person is inside its safety zone"
    "A faulty zone map or a bypassed interlock lets a robot drive although a light curtain is broken."
    Operations Qms sofia 354 3 x 5 to 1 x 5 Mitigate Open
    "Two independent safety channels, type tests by a notified body, and a stop test at each shift change." ["7.5"];
    "Ransomware stops the fleet control of several customers"
    "Fleet control is shared; malware in one network segment could reach all of them."
    Resilience It priya 354 4 x 5 to 2 x 4 Mitigate Open
    "Segmented networks, endpoint protection everywhere, offline copies, and a rehearsed response." ["8.7" "8.22" "5.26"];
    "Firmware is signed with a key that one person holds"
    "The release key lives on a token in one engineer’s drawer."
    Technology It rafael 352 3 x 5 to 2 x 3 Mitigate Open
    "Key moved into a hardware module with two-person approval; a spare is in the bank’s vault." ["8.24" "5.3"];
    "A customer’s personal data is kept longer than agreed"
    "Picking statistics hold names of warehouse staff and are never deleted."
    Regulatory Gov claire 351 4 x 3 to 2 x 3 Mitigate Open
    "Deletion after 90 days by a job, checked once a year." ["8.10" "5.34"];
    "Phishing leads to a payment to a false account"
    "Finance receives changed bank details by mail."
    Fraud Admin seun 350 4 x 4 to 2 x 3 Mitigate Open
    "Call-back on a known number for every change of bank details; payments above 10,000 EUR need two people." ["6.3" "5.3"];
    "The only supplier of lidar sensors stops delivering"
    "One factory makes the sensor that all robots carry."
    VendorManagement Admin meiling 349 3 x 5 to 3 x 3 Mitigate Pending
    "Second source is being qualified; stock for four months." ["5.21"];
    "Secrets are committed to a source repository"
    "Tokens and passwords were found in old commits twice."
    Technology It priya 347 5 x 4 to 2 x 3 Mitigate Open
    "Scanning on every push, short-lived tokens, and rotation of everything that was found." ["8.4" "8.28"];
    "An audit finds that access reviews were not done"
    "Reviews depend on one person’s calendar."
    Governance Gov ingrid 346 4 x 3 to 1 x 3 Mitigate Closed
    "Reviews are recurring tasks with evidence; overdue ones show on the dashboard." ["5.18" "5.35"];
    "A cloud region fails for a day"
    "Fleet control runs in one region."
    Resilience Itsm yuki 344 2 x 5 to 2 x 3 Mitigate Open
    "Warm standby in a second region; robots go on with their last orders for two hours." ["8.14" "5.29"];
    "Known flaws in libraries stay in the product"
    "Nobody was responsible for updating dependencies of the navigation stack."
    Technology It tomasz 341 5 x 4 to 3 x 3 Mitigate Open
    "Weekly report of flaws, fixed within 14 days when critical; owner for each component." ["8.8"];
    "Production data is copied to test systems"
    "Engineers reproduce customers’ problems with real recordings."
    Technology It noor 252 4 x 4 to 2 x 3 Mitigate Open
    "Recordings are masked by a tool before they leave production." ["8.33" "8.11"];
    "Visitors walk through the assembly hall alone"
    "The side door is often held open for deliveries."
    Operations Admin erik 308 4 x 3 to 2 x 2 Mitigate Closed
    "Badges for visitors, a bell at the side door, and a camera that is looked at weekly." ["7.2" "7.4"];
    "A former engineer takes designs to a competitor"
    "Drive-train designs are worth years of work."
    People Hr liam 332 3 x 4 to 2 x 3 Mitigate Open
    "Confidentiality terms in all contracts, export of repositories is logged and looked at." ["6.6" "6.5"];
    "New employees start before their references are checked"
    "Hiring for the new plant is fast."
    People Hr liam 329 4 x 2 to 2 x 2 Mitigate Closed
    "No account before HR marks the check as complete." ["6.1"];
    "Managers cannot see the state of security"
    "Figures are gathered once a year for the board."
    Reporting Gov ingrid 326 3 x 2 to 1 x 2 Mitigate Closed
    "Quarterly report from the registers." ["5.35" "5.4"];
    "Support staff see all customers’ recordings"
    "The support tool has one role."
    Customer Itsm samuel 144 4 x 4 to 3 x 3 Mitigate Open
    "Access by customer and by ticket; the new tool comes with the next release." ["8.3" "5.15"];
    "An update stops robots in the middle of a shift"
    "Updates are installed on a whole site at once."
    Operations It david 320 4 x 4 to 2 x 3 Mitigate Open
    "Rings: own test hall, then one robot, then a site; automatic return to the version before." ["8.32" "8.29"];
    "Data of European customers is processed outside the EU without a basis"
    "Two tools of the sales team keep contacts in other countries."
    Regulatory Gov claire 315 3 x 4 to 2 x 3 Mitigate Open
    "Standard clauses signed, transfer assessments kept with the vendor." ["5.34" "5.20"];
    "The building has no power for hours"
    "The server room has batteries for twelve minutes."
    Resilience Admin erik 305 3 x 3 to 3 x 2 Accept Open
    "What customers use runs in the cloud; the hall stops and nobody is harmed." ["7.11"];
    "A penetration test finds a way from the guest network to the plant"
    "Guests, cameras and the test hall shared switches."
    Technology It priya 301 3 x 5 to 1 x 4 Mitigate Closed
    "Separate networks, rules reviewed each quarter." ["8.20" "8.22"];
    "An incident is reported to authorities too late"
    "Nobody knew who decides within 72 hours."
    Regulatory Gov claire 296 3 x 4 to 1 x 4 Mitigate Open
    "On-call list, decision tree and a drill twice a year." ["5.24" "5.5"];
    "The payroll provider loses salary data"
    "Salaries and bank details of all employees are with one provider."
    VendorManagement Hr liam 291 2 x 4 to 2 x 3 Transfer Open
    "Contract with liability, yearly review of its report, insurance." ["5.19" "5.22"];
    "Robots send diagnostic data in clear text on old sites"
    "Version 3 devices know no TLS."
    Technology It ana 86 4 x 3 to 3 x 2 Mitigate Open
    "Gateways with a tunnel on the last eleven sites; devices are replaced by summer." ["8.24" "8.21"];
    "Insider changes pick counts to hide missing goods"
    "Administrators at a site can edit counts."
    Fraud None fatima 284 2 x 4 to 1 x 3 Mitigate Open
    "Counts are append-only, corrections name a person and a reason." ["8.15" "5.33"];
    "Contracts promise an availability that was never measured"
    "Sales agreed on 99.95 percent with three customers."
    Customer None fatima 277 4 x 3 to 2 x 3 Mitigate Open
    "Availability is measured per site, and new contracts use one table." ["5.31"];
    "Shared accounts in the test hall hide who did what"
    "Four operators used one sign-in on the line controllers."
    Operations Qms jonas 271 4 x 2 to 1 x 2 Mitigate Closed
    "Badges sign in; shared accounts were removed." ["5.16" "8.5"];
    "A voice assistant records meetings about customers"
    "Assistants that write minutes join calls by themselves."
    Technology Gov claire 266 4 x 2 to 2 x 2 Avoid Open
    "Not allowed outside the list; blocked in the calendar." ["5.10" "5.14"];
    "Cloud bills rise unnoticed after an attack"
    "A stolen key could start machines in any region."
    Technology Itsm yuki 259 3 x 3 to 2 x 2 Mitigate Open
    "Budgets with alarms, unused regions are closed." ["5.23" "8.16"];
    "Logs are missing when an incident is examined"
    "Robots keep three days, the cloud thirty."
    Technology Itsm yuki 247 4 x 3 to 2 x 2 Mitigate Open
    "Logs of all systems are gathered and kept for a year." ["8.15" "5.28"];
    "A critical supplier goes out of business"
    "The maker of the gearbox has had two bad years."
    VendorManagement Admin claire 240 2 x 5 to 2 x 4 Accept Open
    "Drawings are in escrow; watched each quarter." ["5.22"];
    "The warehouse of a customer burns because of a battery"
    "Lithium cells can catch fire after a crash."
    Operations Qms sofia 236 2 x 5 to 1 x 5 Transfer Open
    "Cells with certificate, crash sensor stops charging, product liability cover of 20 million EUR." ["7.5"];
    "Staff are not trained for new duties under the machinery regulation"
    "The regulation brings duties for software that is a safety component."
    Regulatory Qms sofia 228 4 x 3 to 3 x 3 Mitigate Pending
    "Training is booked; the technical file is being extended." ["5.31" "6.3"];
    "Machine learning chooses routes nobody can explain"
    "The planner is trained on data of few sites."
    Technology It noor 221 3 x 3 to 2 x 3 Mitigate Open
    "Rules limit what the planner may do; each model is tested on recorded days." ["8.27"];
    "Sales staff use private phones for customers’ data"
    "Contacts and photos of sites are on private devices."
    People None fatima 215 4 x 3 to 2 x 2 Mitigate Open
    "Managed work profile on all phones." ["8.1" "6.7"];
    "The build system can be changed by anybody in development"
    "Who changes the build changes all robots."
    Technology It david 209 3 x 5 to 1 x 4 Mitigate Open
    "Changes of the build need two reviews, runners are new for each job." ["8.25" "8.31" "8.9"];
    "Remote support connects to the wrong site"
    "Sites have similar names; a stop command went to another hall once."
    Operations Itsm samuel 141 3 x 4 to 2 x 3 Mitigate Open
    "Support confirms the site code, and commands name the site." ["5.37"];
    "Personal data in tickets is visible to a translation service"
    "Tickets in other languages are translated by a tool."
    VendorManagement Itsm mateo 201 3 x 3 to 2 x 2 Mitigate Closed
    "Tool replaced by one with an agreement and without storage." ["5.20" "8.12"];
    "Two people with key knowledge leave at once"
    "Navigation is understood by three people."
    People It rafael 196 3 x 4 to 3 x 3 Mitigate Open
    "Pairing, written architecture, and a fourth engineer from spring." ["5.2"];
    "Old test robots are sold with data on them"
    "Used devices go to universities."
    Operations Qms jonas 192 3 x 3 to 1 x 3 Mitigate Open
    "Storage is erased by a tool that writes a record for each serial number." ["7.14" "7.10"];
    "The emergency contact list is out of date"
    "Three of ten numbers were wrong in the last drill."
    Resilience Gov ingrid 187 4 x 2 to 2 x 2 Mitigate Open
    "The list is checked monthly." ["5.5" "5.29"];
    "A customer demands evidence that nobody has"
    "Questionnaires are answered from memory."
    Customer Gov ingrid 178 4 x 2 to 2 x 1 Mitigate Closed
    "Trust portal with certificates, policies and answers." ["5.36"];
    "Time on robots and servers differs by minutes"
    "Log entries cannot be put into order."
    Technology Itsm yuki 169 3 x 2 to 1 x 2 Mitigate Closed
    "All devices use the same two time servers, drift is watched." ["8.17"];
    "An open-source licence forces disclosure of own code"
    "A library with strong copyleft was found in the planner."
    Regulatory Gov claire 161 2 x 3 to 1 x 3 Avoid Open
    "Licences are checked in the build; the library was replaced." ["5.32"];
    "Invoices are paid twice after the change of the ERP"
    "Numbers of invoices changed their form."
    Fraud Admin seun 153 3 x 2 to 2 x 1 Accept Open
    "Double payments are found in the monthly close." ["5.37"];
    "Meeting rooms show plans on screens to visitors"
    "Screens keep the last picture."
    Operations Admin erik 146 3 x 1 to 2 x 1 Mitigate Open
    "Screens go dark after five minutes." ["7.7"];
    "Contractors work with accounts of employees"
    "Two contractors borrowed accounts in spring."
    People It priya 136 3 x 3 to 2 x 2 Mitigate Open
    "Own accounts from the first day, with an end date." ["5.16" "6.2"];
    "A denial of service keeps operators from fleet control"
    "The console is reachable from the internet."
    Technology Itsm yuki 127 4 x 3 to 3 x 2 Transfer Open
    "Protection by the provider, console also over a private line." ["8.20" "8.6"];
    "The new plant opens without an evacuation drill"
    "Opening is in eight weeks."
    People Hr liam 118 2 x 4 to 2 x 2 Mitigate Pending
    "Drill is planned for the first week." ["7.5"];
    "Test drives on public roads are not insured"
    "Yard tractors cross a road between halls."
    Other Admin seun 109 2 x 4 to 2 x 3 Transfer Pending
    "Offer from the insurer is awaited." ["5.31"];
    "A partner’s integration reads more than it needs"
    "The warehouse system of a partner has a key with all rights."
    Customer It david 99 3 x 3 to 2 x 3 Mitigate Open
    "Keys with scopes; the partner changes over by the end of the quarter." ["8.3" "8.26"];
    "Automatic decisions of the planner lead to unequal shifts"
    "Works councils ask how breaks are planned."
    Regulatory Hr claire 91 2 x 3 to 2 x 3 Accept Open
    "Planner sees no names; agreement with the council." ["5.34"];
    "Employees paste customers’ drawings into public AI tools"
    "It was seen twice in the web filter."
    People Gov claire 78 5 x 3 to 3 x 3 Mitigate Open
    "Policy, an approved tool, and a warning in the browser." ["5.10" "8.12" "8.23"];
    "The certificate of the update server expires over the holidays"
    "It was renewed by hand in the last minute last year."
    Technology Itsm yuki 66 4 x 3 to 1 x 3 Mitigate Open
    "Renewal by itself, checked every Monday." ["8.24"];
    "Spare parts with forged marks reach customers"
    "A broker offered relays below market price."
    VendorManagement Qms jonas 52 3 x 4 to 3 x 3 Avoid Pending
    "Only from the list of sources; incoming inspection of relays." ["5.21"];
    "A drone films the assembly hall through the roof windows"
    "Seen twice in autumn."
    Other Admin erik 38 2 x 2 to 2 x 2 Accept Open
    "Foil on the windows is not worth its price." ["7.3"];
    "Quantum computers break the keys of robots in the field"
    "Robots stay in service for fifteen years."
    Technology It rafael 24 1 x 4 to 1 x 4 Accept Open
    "Keys can be replaced over the air; looked at again next year." ["8.24"];
    "The new customer portal goes live without a security test"
    "The date is fixed, the test is not yet booked."
    Technology It priya 9 4 x 4 to 4 x 4 Mitigate Pending
    "" ["8.29"];
}

const LIKELIHOODS: [Likelihood; 5] = [
    Likelihood::VeryUnlikely,
    Likelihood::Unlikely,
    Likelihood::Possible,
    Likelihood::Likely,
    Likelihood::VeryLikely,
];
const IMPACTS: [Impact; 5] =
    [Impact::Insignificant, Impact::Minor, Impact::Moderate, Impact::Major, Impact::Severe];

/// Converts a likelihood and an impact from 1 to 5.
pub(crate) fn rating([likelihood, impact]: [usize; 2]) -> (Option<Likelihood>, Option<Impact>) {
    (LIKELIHOODS.get(likelihood - 1).copied(), IMPACTS.get(impact - 1).copied())
}

/// Those who may see the risks they own.
const MAY_ACCEPT: [&str; 3] = [OWNER, APPROVER, "claire"];

/// The rating midway between inherent and residual.
fn halfway(from: [usize; 2], to: [usize; 2]) -> [usize; 2] {
    [(from[0] + to[0]).div_ceil(2), (from[1] + to[1]).div_ceil(2)]
}

pub(crate) fn plan(plan: &mut Plan) {
    for (place, row) in ROWS.iter().enumerate() {
        let by = [OWNER, APPROVER, "claire", OWNER][place % 4];
        plan.on(row.ago, move |story| found(story, row, by).boxed_local());
        if row.treatment.is_empty() {
            continue;
        }
        plan.on(row.ago * 9 / 10, move |story| treat(story, row).boxed_local());
        let between = halfway(row.inherent, row.residual);
        if between != row.inherent && between != row.residual {
            plan.on(row.ago * 6 / 10, move |story| rate_again(story, row, between, Open).boxed_local());
        }
        plan.on(row.ago * 3 / 10, move |story| {
            rate_again(story, row, row.residual, row.status).boxed_local()
        });
        if row.strategy == Accept && MAY_ACCEPT.contains(&row.owner) {
            plan.on(row.ago * 2 / 10, move |story| accept(story, row).boxed_local());
        }
    }
}

async fn found(story: &mut Story, row: &'static Row, by: &str) -> Result<()> {
    let (likelihood, impact) = rating(row.inherent);
    let new = RiskPatch {
        title: Some(text(row.title)?),
        description: Some(text(row.description)?),
        category: Some(row.category),
        department: Patch::Value(row.department),
        assignee_id: Patch::Value(story.member(row.owner)?),
        likelihood,
        impact,
        residual_likelihood: likelihood,
        residual_impact: impact,
        ..RiskPatch::default()
    };
    let made = registers::create::<Risk>(&story.ctx, &story.by::<grant::RiskCreate>(by)?, new).await?;
    story.risks.insert(row.title, made.id);
    Ok(())
}

async fn update(story: &Story, row: &Row, by: &str, patch: RiskPatch) -> Result<()> {
    let id = *story.risks.get(row.title).context("the risk is not there yet")?;
    let scope = story.by::<grant::RiskUpdate>(by)?;
    registers::update::<Risk>(&story.ctx, &scope, id, patch, Precondition::default()).await?;
    Ok(())
}

/// The date of the next review: ahead for most risks, overdue for a few.
fn review(story: &Story, row: &Row) -> Date {
    let late = row.title.len().is_multiple_of(7);
    if late { story.day(row.ago % 20 + 1) } else { story.day(-((row.ago * 7) % 150 + 12)) }
}

async fn treat(story: &mut Story, row: &'static Row) -> Result<()> {
    let patch = RiskPatch {
        treatment_strategy: Some(row.strategy),
        treatment_strategy_description: Patch::Value(text(row.treatment)?),
        review_date: Patch::Value(review(story, row)),
        ..RiskPatch::default()
    };
    update(story, row, OWNER, patch).await
}

async fn rate_again(
    story: &mut Story,
    row: &'static Row,
    rated: [usize; 2],
    status: RiskStatus,
) -> Result<()> {
    let (residual_likelihood, residual_impact) = rating(rated);
    let patch =
        RiskPatch { residual_likelihood, residual_impact, status: Some(status), ..RiskPatch::default() };
    update(story, row, APPROVER, patch).await
}

async fn accept(story: &mut Story, row: &'static Row) -> Result<()> {
    let id = *story.risks.get(row.title).context("the risk is not there yet")?;
    let (scope, until) = (story.by::<grant::RiskRead>(row.owner)?, story.day(-(row.ago % 100 + 30)));
    risk_criteria::accept(&story.ctx, &scope, id, until, text(row.treatment)?, Precondition::default())
        .await?;
    Ok(())
}
