-- Each row of a register has a number, and so a reference that people can say aloud.
CREATE TABLE register_numbers (
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    register TEXT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (org_id, register)
);

ALTER TABLE risks ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
ALTER TABLE risks ADD COLUMN is_assessed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE risks ADD COLUMN review_date TEXT COLLATE "C";
UPDATE risks SET number = counted.number FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY org_id ORDER BY id) AS number FROM risks) AS counted WHERE counted.id = risks.id;
UPDATE risks SET is_assessed = TRUE WHERE inherent_score > 1 OR residual_score > 1;
INSERT INTO register_numbers (org_id, register, last) SELECT org_id, 'risk', MAX(number) FROM risks GROUP BY org_id;
CREATE UNIQUE INDEX risks_number ON risks (org_id, number);

ALTER TABLE vendors ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
ALTER TABLE vendors ADD COLUMN is_assessed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE vendors ADD COLUMN is_sub_processor BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE vendors ADD COLUMN review_date TEXT COLLATE "C";
UPDATE vendors SET number = counted.number FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY org_id ORDER BY id) AS number FROM vendors) AS counted WHERE counted.id = vendors.id;
UPDATE vendors SET is_assessed = TRUE WHERE inherent_score > 1 OR residual_score > 1;
INSERT INTO register_numbers (org_id, register, last) SELECT org_id, 'vendor', MAX(number) FROM vendors GROUP BY org_id;
CREATE UNIQUE INDEX vendors_number ON vendors (org_id, number);
