//! The table of vendors.

use attestry_domain::registers::vendors::Vendor;

stored!(Vendor in "vendors");
