-- Sessions of a principal that hold bytes or reserve them: not complete, or partial ones that wait for their final upload.
SELECT count(*) FROM uploads WHERE owner = :owner AND (state = 0 OR concat = 'partial');
