//! The table of vendors.

use attestry_domain::vendor_fields;
use attestry_domain::vendors::Vendor;

vendor_fields!(stored Vendor in "vendors");
