//! The table of risks.

use attestry_domain::risk_fields;
use attestry_domain::risks::Risk;

risk_fields!(stored Risk in "risks");
