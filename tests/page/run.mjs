// Runs the page's tests: node tests/page/run.mjs [--reel BIN] [FILTER]. Every test_*.mjs beside this file exports `tests`, {name: async
// function}, and may export `setUp` and `tearDown`. Last line: N passed, N failed, N skipped.
import { spawn } from 'node:child_process';
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
const file = args.indexOf('--file');
const only = file >= 0 ? args.splice(file, 2)[1] : null;
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

/** One file's tests, in this process with a browser of its own. */
async function runHere(file) {
    const harness = await import('./harness.mjs');
    await runFile(file, harness.Skip);
    await harness.closeBrowser();
}

/** The same in a process of its own: most of a file's time is waiting for pages, so two at a time take half as long. Gives what it printed. */
function runBeside(file) {
    return new Promise((done) => {
        const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--file', file, filter], { stdio: ['ignore', 'pipe', 'pipe'] });
        let said = '';
        for (const stream of [child.stdout, child.stderr]) {
            stream.on('data', (data) => (said += data));
        }
        child.on('close', (code) => done({ said, code }));
    });
}

function take(file, { said, code }) {
    const last = /^(\d+) passed, (\d+) failed, (\d+) skipped\n$/m.exec(said);
    process.stdout.write(said.replace(last?.[0] ?? '', ''));
    counts.passed += Number(last?.[1] ?? 0);
    counts.failed += Number(last?.[2] ?? 1);
    counts.skipped += Number(last?.[3] ?? 0);
    if (!last || (code !== 0 && last[2] === '0')) {
        console.log(`FAILED ${file}: ended with ${code}${last ? '' : ' before its counts'}`);
        counts.failed += last ? 1 : 0;
    }
}

async function runAll() {
    try {
        await import('./harness.mjs');
    } catch (error) {
        console.log(`skipped: ${error.message}`);
        counts.skipped++;
        return;
    }
    const size = (name) => fs.statSync(path.join(HERE, name)).size; // the longest first
    const files = fs
        .readdirSync(HERE)
        .filter((name) => /^test_.*\.mjs$/.test(name))
        .sort((a, b) => size(b) - size(a));
    const worker = async () => {
        for (let file = files.shift(); file; file = files.shift()) {
            const began = Date.now();
            take(file, await runBeside(file));
            console.log(`${file.padEnd(24)} ${((Date.now() - began) / 1000).toFixed(1)} s`);
        }
    };
    await Promise.all([worker(), worker()]);
}

await (only ? runHere(only) : runAll());
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
