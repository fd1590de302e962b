// Runs the page's tests: node tests/page/run.mjs [--reel BIN] [FILTER]. Every test_*.mjs in this folder exports
// `tests`, {name: async function}, and may export `setUp` and `tearDown`. Last line: N passed, N failed, N skipped.
// With --pictures DIR it writes the pictures of the page for the documents instead.
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
const pictures = args.indexOf('--pictures');
const pictureFolder = pictures >= 0 ? args.splice(pictures, 2)[1] : null;
const filter = args[0] ?? '';
const SLOW_MS = 8000; // of a test that is named with its time
const counts = { passed: 0, failed: 0, skipped: 0 };

async function runOne(name, test, Skip) {
    const began = Date.now();
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
    if (Date.now() - began > SLOW_MS) {
        console.log(`${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
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
            counts.passed--; // the set-up does not count
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

/** Runs one file's tests in this process. */
async function runHere(file) {
    const harness = await import('./harness.mjs');
    await runFile(file, harness.Skip);
    await harness.closeBrowser();
}

/**
 * Runs one file's tests in a child process and returns its output. Tests mostly wait for pages, so two files run at a
 * time.
 */
function runInChild(file) {
    return new Promise((done) => {
        const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--file', file, filter], {
            stdio: ['ignore', 'pipe', 'pipe'],
        });
        let output = '';
        for (const stream of [child.stdout, child.stderr]) {
            stream.on('data', (data) => (output += data));
        }
        child.on('close', (code) => done({ output, code }));
    });
}

function report(file, { output, code }) {
    const last = /^(\d+) passed, (\d+) failed, (\d+) skipped\n$/m.exec(output);
    process.stdout.write(output.replace(last?.[0] ?? '', ''));
    counts.passed += Number(last?.[1] ?? 0);
    counts.failed += Number(last?.[2] ?? 1);
    counts.skipped += Number(last?.[3] ?? 0);
    if (!last || (code !== 0 && last[2] === '0')) {
        console.log(`FAILED ${file}: exited with ${code}${last ? '' : ' before its counts'}`);
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
    const size = (name) => fs.statSync(path.join(HERE, name)).size; // the largest file first
    const files = fs
        .readdirSync(HERE)
        .filter((name) => /^test_.*\.mjs$/.test(name))
        .sort((a, b) => size(b) - size(a));
    const worker = async () => {
        for (let file = files.shift(); file; file = files.shift()) {
            const began = Date.now();
            report(file, await runInChild(file));
            console.log(`${file.padEnd(24)} ${((Date.now() - began) / 1000).toFixed(1)} s`);
        }
    };
    await Promise.all([worker(), worker()]);
}

if (pictureFolder) {
    const { writePictures } = await import('./pictures.mjs');
    await writePictures(pictureFolder);
    process.exit(0);
}
await (only ? runHere(only) : runAll());
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
