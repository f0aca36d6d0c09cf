-- What only SQLite has, after the tables and indexes: it copies into push_links what a push is found by; links.ts says when.

INSERT INTO links_filed (id, up_to) VALUES (1, 0);

CREATE TRIGGER push_links_change AFTER UPDATE OF lookup ON pushes BEGIN
  UPDATE push_links SET lookup = NEW.lookup WHERE lookup = OLD.lookup;
END;

CREATE TRIGGER push_links_removal AFTER DELETE ON pushes BEGIN
  DELETE FROM push_links WHERE lookup = OLD.lookup;
END;
