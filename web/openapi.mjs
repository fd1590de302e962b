// The contract, openapi.yaml: read as an object for /openapi.json, and held against redocly's rules. `node openapi.mjs` says what breaks them.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createConfig, lint, parseYaml } from '@redocly/openapi-core';

const FILE = path.join(path.dirname(fileURLToPath(import.meta.url)), 'openapi.yaml');

// redocly's recommended rules, but for three that our addresses break on purpose.
const RULES = {
    'no-ambiguous-paths': 'off', // …/by-name/… beside …/{id}/…: what is literal wins, and no id is "by-name"
    'no-path-trailing-slash': 'off', // Grafana asks for /grafana and /grafana/
    'operation-4xx-response': 'off', // the page's addresses and health refuse nobody
};

/** Without what only saves writing: the lists that are merged in (x-…), and their anchors. */
export function readContract() {
    const document = parseYaml(fs.readFileSync(FILE, 'utf8'));
    return Object.fromEntries(Object.entries(document).filter(([key]) => !key.startsWith('x-')));
}

/** What is wrong with it, a line each. */
export async function lintContract() {
    const config = await createConfig({ extends: ['recommended'], rules: RULES });
    const problems = await lint({ ref: FILE, config }).catch((error) => [{ ruleId: 'yaml', message: error.message, location: [] }]);
    return problems.map((p) => `${p.ruleId}: ${p.message} ${p.location[0]?.pointer ?? ''}`);
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
    const lines = await lintContract();
    console.log([...lines, `openapi.yaml: ${lines.length} problems`].join('\n'));
    process.exitCode = lines.length > 0 ? 1 : 0;
}
