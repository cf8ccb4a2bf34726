//! The table of risks.

use attestry_domain::registers::risks::Risk;

stored!(Risk in "risks");
