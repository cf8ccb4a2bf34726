//! The table of risks.

use attestry_domain::registers::risks::Risk;
use attestry_domain::risk_fields;

risk_fields!(stored Risk in "risks");
