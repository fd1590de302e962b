// Builds the page: node web/build.mjs [--out DIR] [--check | --no-check]. Files are named by a hash of their content,
// so that browsers may cache them forever. Unchanged files are not written again.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { readComponents } from './openapi.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const SRC = path.join(HERE, 'src');
const SCRIPT_BUDGET = 150 * 1024; // of the first view, gzipped

const args = process.argv.slice(2);
const out = path.resolve(args.includes('--out') ? args[args.indexOf('--out') + 1] : path.join(HERE, '../build/web'));

const common = {
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome100', 'firefox102', 'safari15.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    absWorkingDir: HERE,
    logLevel: 'warning',
};

// Generates src/api_types.ts if server/api/openapi.yaml is newer.
async function generateTypes() {
    const from = path.join(HERE, '../server/api/openapi.yaml');
    const to = path.join(SRC, 'api_types.ts');
    if (!fs.existsSync(from)) {
        return;
    }
    if (fs.existsSync(to) && fs.statSync(to).mtimeMs >= fs.statSync(from).mtimeMs) {
        return;
    }
    const { default: openapiTS, astToString } = await import('openapi-typescript');
    const ast = await openapiTS(new URL('../server/api/openapi.yaml', import.meta.url), { alphabetize: true });
    writeIfNew(to, '// Generated from server/api/openapi.yaml by build.mjs; do not edit.\n' + astToString(ast));
}

function writeIfNew(file, bytes) {
    const data = Buffer.from(bytes);
    if (!fs.existsSync(file) || !fs.readFileSync(file).equals(data)) {
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, data);
    }
}

function nameOf(stem, suffix, bytes) {
    return `assets/${stem}-${createHash('sha256').update(bytes).digest('hex').slice(0, 10)}${suffix}`;
}

// The bundled packages: their folders below node_modules.
const packages = new Set();
function notePackages(metafile) {
    for (const input of Object.keys(metafile.inputs)) {
        const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
        if (found) {
            packages.add(found[1]);
        }
    }
}

// The licence texts of the bundled packages, which must be distributed with them.
function collectLicences(files) {
    const texts = [...packages].sort().map((folder) => {
        const at = path.join(HERE, folder);
        const { name, version, license } = JSON.parse(fs.readFileSync(path.join(at, 'package.json'), 'utf8'));
        const file = fs.readdirSync(at).find((entry) => /^licen[cs]e/i.test(entry));
        if (!file) {
            throw new Error(`${name} has no licence text, so it cannot be distributed`);
        }
        return `${name} ${version} (${license})\n\n${fs.readFileSync(path.join(at, file), 'utf8').trim()}\n`;
    });
    const bytes = Buffer.from(texts.join('\n' + '-'.repeat(80) + '\n\n'));
    const name = nameOf('licenses', '.txt', bytes);
    files.set(name, bytes);
    return name;
}

// `import url from './hash_worker?worker'` bundles hash_worker.ts as a separate script and returns its URL, for new
// Worker(url, {type: 'module'}).
function workers(files) {
    return {
        name: 'workers',
        setup(build) {
            build.onResolve({ filter: /\?worker$/ }, (request) => ({
                path: path.resolve(request.resolveDir, request.path.replace(/\?worker$/, '.ts')),
                namespace: 'worker',
            }));
            build.onLoad({ filter: /.*/, namespace: 'worker' }, async (request) => {
                const result = await esbuild.build({
                    ...common,
                    entryPoints: [request.path],
                    write: false,
                    metafile: true,
                });
                notePackages(result.metafile);
                const bytes = result.outputFiles[0].contents;
                const name = nameOf(path.basename(request.path, '.ts'), '.js', bytes);
                files.set(name, bytes);
                return {
                    contents: `export default new URL(${JSON.stringify(name)}, document.baseURI).href`,
                    watchFiles: [request.path],
                };
            });
        },
    };
}

// Bundles every .css below src/ into one style sheet: style/ first, then by name.
async function buildStyle(files) {
    const found = fs
        .readdirSync(SRC, { recursive: true })
        .filter((f) => f.endsWith('.css'))
        .sort();
    const style = (f) => f.startsWith('style' + path.sep);
    const all = [...found.filter(style), ...found.filter((f) => !style(f))];
    const text = all.map((f) => `@import ${JSON.stringify('./' + f.split(path.sep).join('/'))};`).join('\n');
    const stdin = {
        contents: text + '\n@import "uplot/dist/uPlot.min.css";',
        resolveDir: SRC,
        loader: 'css',
        sourcefile: 'all.css',
    };
    const result = await esbuild.build({ ...common, entryPoints: undefined, stdin, write: false, metafile: true });
    notePackages(result.metafile);
    const bytes = result.outputFiles[0].contents;
    const name = nameOf('style', '.css', bytes);
    files.set(name, bytes);
    return name;
}

async function buildScripts(files) {
    const result = await esbuild.build({
        ...common,
        entryPoints: { main: path.join(SRC, 'main.tsx') },
        outdir: out,
        entryNames: 'assets/[name]-[hash]',
        chunkNames: 'assets/[name]-[hash]',
        splitting: true,
        write: false,
        metafile: true,
        plugins: [workers(files)],
    });
    notePackages(result.metafile);
    const outputs = {};
    for (const [file, info] of Object.entries(result.metafile.outputs)) {
        outputs[path.relative(out, path.resolve(HERE, file)).split(path.sep).join('/')] = info;
    }
    for (const file of result.outputFiles) {
        files.set(path.relative(out, file.path).split(path.sep).join('/'), file.contents);
    }
    return outputs;
}

// The entry script and its static imports.
function firstScripts(outputs) {
    const names = Object.keys(outputs);
    const main = names.find((name) => outputs[name].entryPoint?.endsWith('src/main.tsx'));
    const wanted = [main];
    for (let i = 0; i < wanted.length; i++) {
        for (const link of outputs[wanted[i]].imports) {
            const name = path.relative(out, path.resolve(HERE, link.path)).split(path.sep).join('/');
            if (link.kind === 'import-statement' && !link.external && !wanted.includes(name)) {
                wanted.push(name);
            }
        }
    }
    return wanted;
}

// The icons, by their file names in src/icons.
function collectIcons(files) {
    const icons = {};
    for (const file of fs.readdirSync(path.join(SRC, 'icons')).sort()) {
        const bytes = fs.readFileSync(path.join(SRC, 'icons', file));
        const { name, ext } = path.parse(file);
        files.set((icons[file] = nameOf(name, ext, bytes)), bytes);
    }
    return icons;
}

// Makes the page installable. Its addresses are relative to its own, which is in assets/.
function buildManifest(files, icons) {
    const manifest = JSON.parse(fs.readFileSync(path.join(SRC, 'manifest.json'), 'utf8'));
    manifest.icons.forEach((icon) => (icon.src = path.basename(icons[icon.src])));
    const bytes = Buffer.from(JSON.stringify(manifest));
    const name = nameOf('reel', '.webmanifest', bytes);
    files.set(name, bytes);
    return name;
}

function buildIndex(scripts, style, icons, manifest, licences) {
    const preload = scripts
        .slice(1)
        .map((name) => `<link rel="modulepreload" href="${name}">`)
        .join('\n');
    return fs
        .readFileSync(path.join(SRC, 'index.html'), 'utf8')
        .replace(
            '<!-- head -->',
            [
                `<link rel="icon" href="${icons['icon.svg']}" type="image/svg+xml">`,
                `<link rel="apple-touch-icon" href="${icons['icon-maskable-512.png']}">`,
                `<link rel="manifest" href="${manifest}">`,
                `<link rel="stylesheet" href="${style}">`,
                `<link rel="license" href="${licences}">`,
                preload,
                `<script type="module" src="${scripts[0]}"></script>`,
            ]
                .filter(Boolean)
                .join('\n'),
        );
}

function write(files) {
    const wanted = new Map(files);
    for (const [name, bytes] of files) {
        const packed = gzipSync(bytes, { level: 9 });
        if (packed.length < bytes.length) {
            wanted.set(name + '.gz', packed);
        }
    }
    for (const [name, bytes] of wanted) {
        writeIfNew(path.join(out, name), bytes);
    }
    for (const old of fs.readdirSync(out, { recursive: true })) {
        const name = old.split(path.sep).join('/');
        if (!wanted.has(name) && fs.statSync(path.join(out, old)).isFile()) {
            fs.rmSync(path.join(out, old));
        }
    }
}

async function build() {
    const files = new Map();
    const outputs = await buildScripts(files);
    const style = await buildStyle(files);
    const icons = collectIcons(files);
    const manifest = buildManifest(files, icons);
    const scripts = firstScripts(outputs);
    files.set('index.html', Buffer.from(buildIndex(scripts, style, icons, manifest, collectLicences(files))));
    files.set('openapi.json', Buffer.from(JSON.stringify(readComponents()) + '\n'));
    write(files);
    const size = (names) => names.reduce((sum, name) => sum + gzipSync(files.get(name), { level: 9 }).length, 0);
    const kib = (n) => `${(n / 1024).toFixed(1)} KiB`;
    const first = size(scripts);
    console.log(
        `page: ${files.size} files; first view: ${kib(first)} of script, ${kib(size([style]))} of style (gzipped)`,
    );
    if (first > SCRIPT_BUDGET) {
        console.error(`page: the script of the first view exceeds ${SCRIPT_BUDGET / 1024} KiB`);
        process.exitCode = 1;
    }
}

function check() {
    const done = spawnSync(process.execPath, [path.join(HERE, 'node_modules/typescript/bin/tsc'), '-p', HERE], {
        stdio: 'inherit',
    });
    if (done.status !== 0) {
        process.exit(1);
    }
}

await generateTypes();
if (!args.includes('--no-check')) {
    check();
}
if (!args.includes('--check')) {
    await build();
}
