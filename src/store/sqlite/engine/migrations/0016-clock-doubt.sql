-- The reading of a clock that jumped ahead, while nobody has confirmed it; its checksum is that of the mark. Null: no doubt.
ALTER TABLE instance ADD COLUMN clock_doubted INTEGER;
