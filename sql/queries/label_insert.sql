INSERT INTO labels (kind, name) VALUES (:kind, :name) ON CONFLICT (kind, name) DO NOTHING;
