-- The tables of the shop.

-- Who buys.
CREATE TABLE shop.customer (
    id integer PRIMARY KEY,
    name text NOT NULL
);

CREATE VIEW best_customers AS
    SELECT name
    FROM shop.customer
    WHERE id < 10;

CREATE INDEX customer_name ON shop.customer (name);

CREATE FUNCTION greet(name text) RETURNS text AS $$
BEGIN
    RETURN 'Hello ' || name;
END;
$$ LANGUAGE plpgsql;
