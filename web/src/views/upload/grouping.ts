// Which of the chosen files are one recording, by their names: a folder of `ros2 bag record`, the splits of a recorder, a
// .traj with its .state. The server decides with their content (lib/index/collect.h) and refuses a part that is none.
import type { Chosen } from './queue';

/** The files of one recording, the one that it is created with first. */
export interface Group {
    name: string; // of the recording
    files: Chosen[];
}

const DATA = /\.(mcap|db3)(\.zstd)?$/;
const LOG = /\.db3-wal$/;
const SPLIT = /^(.+)_(\d{1,4})(\.(?:mcap|db3)(?:\.zstd)?)$/;

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
const fileOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const byName = (a: Chosen, b: Chosen) => a.name.localeCompare(b.name, 'en', { numeric: true });

/** Splits are numbered from 0. */
function splitsOf(files: Chosen[]): Chosen[][] {
    const stems = new Map<string, Chosen[]>();
    for (const file of files) {
        const [, stem, , ending] = SPLIT.exec(fileOf(file.name)) ?? [];
        if (stem !== undefined) {
            stems.set(stem + ending, [...(stems.get(stem + ending) ?? []), file]);
        }
    }
    return [...stems.values()].filter(
        (all) => all.length > 1 && all.some((one) => Number(SPLIT.exec(fileOf(one.name))![2]) === 0),
    );
}

function pairsOf(files: Chosen[]): Chosen[][] {
    const states = new Map(files.filter(({ name }) => name.endsWith('.state')).map((one) => [one.name, one]));
    return files
        .filter(({ name }) => name.endsWith('.traj'))
        .map((one) => [one, states.get(one.name.replace(/traj$/, 'state'))])
        .filter((pair): pair is Chosen[] => pair[1] !== undefined);
}

/** The files of one folder that belong together; those that do not are left out. */
function together(files: Chosen[]): Chosen[][] {
    const data = files.filter(({ name }) => DATA.test(name));
    const yaml = files.find(({ name }) => fileOf(name) === 'metadata.yaml');
    const kind = (one: Chosen) => DATA.exec(one.name)![1];
    const bags = yaml && data.length > 0 ? [data.filter((one) => kind(one) === kind(data[0]!))] : splitsOf(data);
    const logs = (bag: Chosen[]) =>
        files.filter(({ name }) => LOG.test(name) && bag.some((one) => one.name + '-wal' === name));
    const single = yaml ? [] : data.filter((one) => !bags.flat().includes(one) && logs([one]).length > 0);
    return [
        ...bags.map((bag) => [bag[0]!, ...(yaml ? [yaml] : []), ...bag.slice(1), ...logs(bag)]),
        ...single.map((one) => [one, ...logs([one])]),
        ...pairsOf(files),
    ];
}

export function groupFiles(chosen: Chosen[]): Group[] {
    const folders = new Map<string, Chosen[]>();
    for (const file of [...chosen].sort(byName)) {
        const folder = folderOf(file.name);
        folders.set(folder, [...(folders.get(folder) ?? []), file]);
    }
    return [...folders].flatMap(([folder, files]) => {
        const groups = together(files);
        const rest = files.filter((file) => !groups.some((group) => group.includes(file)));
        const alone =
            groups.length === 1 && !rest.some(({ name }) => DATA.test(name) || /\.(bag|traj|state)$/.test(name));
        return [
            ...groups.map((group) => ({ name: alone && folder ? folder : group[0]!.name, files: group })),
            ...rest.map((file) => ({ name: file.name, files: [file] })),
        ];
    });
}
