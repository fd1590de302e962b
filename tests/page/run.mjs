// Runs the page's tests: node tests/page/run.mjs [--reel BIN] [FILTER]. Every test_*.mjs beside this file exports `tests`, {name: async
// function}, and may export `setUp` and `tearDown`. Last line: N passed, N failed, N skipped.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const at = args.indexOf('--reel');
if (at >= 0) {
    process.env.REEL = path.resolve(args.splice(at, 2)[1]);
}
const filter = args[0] ?? '';
const counts = { passed: 0, failed: 0, skipped: 0 };

async function runOne(name, test, Skip) {
    try {
        await test();
        counts.passed++;
    } catch (error) {
        if (error instanceof Skip) {
            counts.skipped++;
            console.log(`skipped ${name}: ${error.message}`);
        } else {
            counts.failed++;
            console.log(`FAILED ${name}\n${error.stack ?? error}`);
        }
    }
}

async function runFile(file, Skip) {
    const module = await import(pathToFileURL(path.join(HERE, file)));
    const stem = file.slice('test_'.length, -'.mjs'.length);
    const wanted = Object.entries(module.tests).filter(([name]) => `${stem}.${name}`.includes(filter));
    if (wanted.length === 0) {
        return;
    }
    let ready = true;
    await runOne(
        stem + ' (set-up)',
        async () => {
            ready = false;
            await module.setUp?.();
            ready = true;
            counts.passed--; // only tests count
        },
        Skip,
    );
    for (const [name, test] of wanted) {
        if (ready) {
            await runOne(`${stem}.${name}`, test, Skip);
        }
    }
    await module.tearDown?.();
}

async function main() {
    let harness;
    try {
        harness = await import('./harness.mjs');
    } catch (error) {
        console.log(`skipped: ${error.message}`);
        console.log('0 passed, 0 failed, 1 skipped');
        return;
    }
    for (const file of fs
        .readdirSync(HERE)
        .filter((name) => /^test_.*\.mjs$/.test(name))
        .sort()) {
        await runFile(file, harness.Skip);
    }
    await harness.closeBrowser();
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    process.exitCode = counts.failed > 0 ? 1 : 0;
}

await main();
