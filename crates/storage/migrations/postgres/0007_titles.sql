CREATE INDEX risks_title ON risks (org_id, archived, title_key, id);
CREATE INDEX vendors_name ON vendors (org_id, name_key, id);
