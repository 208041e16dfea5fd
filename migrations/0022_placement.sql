-- What a worker says of its machine: an object of texts, such as {"site":"lab2","gpu":""}.
ALTER TABLE workers ADD COLUMN labels_json TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(labels_json));

-- What the sweep asks of the workers that play it: an object of `require` and `prefer`, lists of labels, as far as there
-- are some. NULL: nothing.
ALTER TABLE experiments ADD COLUMN placement_json TEXT CHECK (json_valid(placement_json));
