//! The table of vendors.

use attestry_domain::registers::vendors::Vendor;
use attestry_domain::vendor_fields;

vendor_fields!(stored Vendor in "vendors");
