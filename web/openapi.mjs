// The OpenAPI document: readComponents() reads server/api/openapi.yaml, to which the server adds the paths.
// `node openapi.mjs FILE` checks a whole document (`reel routes --openapi` prints it) against redocly's rules.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString, parseYaml } from '@redocly/openapi-core';

const FILE = path.join(path.dirname(fileURLToPath(import.meta.url)), '../server/api/openapi.yaml');

// redocly's recommended rules, except two that our addresses break on purpose: …/by-name/… and …/{id}/…: a literal
// segment takes precedence, and no id is "by-name"; and an address that opens a WebSocket answers 101.
const RULES = { 'no-ambiguous-paths': 'off', 'operation-2xx-response': 'off' };

export function readComponents() {
    return parseYaml(fs.readFileSync(FILE, 'utf8'));
}

/** The problems of a whole document, one line each. */
export async function lintContract(source) {
    const config = await createConfig({ extends: ['recommended'], rules: RULES });
    const problems = await lintFromString({ source, absoluteRef: FILE, config });
    return problems.map((p) => `${p.ruleId}: ${p.message} ${p.location[0]?.pointer ?? ''}`);
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
    const lines = await lintContract(fs.readFileSync(process.argv[2], 'utf8'));
    console.log([...lines, `${lines.length} problems`].join('\n'));
    process.exitCode = lines.length > 0 ? 1 : 0;
}
