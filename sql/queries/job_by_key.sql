SELECT id FROM jobs WHERE kind = :kind AND key = :key AND state < 2;
