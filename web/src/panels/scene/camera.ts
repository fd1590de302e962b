// Where the camera is when a scene opens, and as the link holds it: scene.view=x,y,z,x,y,z.
import * as THREE from 'three';
import type { Source } from './source';
import type { Viewport } from './viewport';

export const NOTHING = 'none'; // follow nothing
const DIGITS = 3; // of what is seen

type Settings = Record<string, string>;
const numbersOf = (text: string): number[] => text.split(',').map((part) => (part === '' ? NaN : Number(part)));

/** What the camera follows. */
export const followedOf = (source: Source, settings: Settings): string | null => settings.follow ?? source.robot();
export const turnsOf = (settings: Settings, chases: boolean): boolean =>
    (settings.turn ?? (chases && settings.camera === undefined ? '1' : '0')) === '1';

function placeOf(source: Source, settings: Settings): THREE.Matrix4 | null {
    const followed = followedOf(source, settings);
    return followed === null || followed === NOTHING ? null : source.placeOf(followed);
}
export const boxOf = (source: Source): THREE.Box3 => new THREE.Box3().setFromObject(source.centre ?? source.group);

/** The view of the link, else the first one: behind the robot, or of all that is there. False: there is nothing yet. */
export function openView(view: Viewport, source: Source, settings: Settings): boolean {
    const box = boxOf(source);
    const place = placeOf(source, settings);
    const alone = settings.view !== undefined && (place !== null || settings.follow === NOTHING);
    if (box.isEmpty() && !alone) {
        return false;
    }
    view.setCamera(settings.camera === 'top' ? 'top' : 'free');
    view.follow(null);
    view.fit(box);
    if (settings.camera === 'front' || settings.camera === 'side') {
        view.lookFrom(settings.camera);
    } else if (place && source.chases) {
        view.behind(place, CHASED, box);
    }
    if (place && (settings.view !== undefined || (settings.follow === undefined && !source.chases))) {
        view.followFrom(place, turnsOf(settings, source.chases === true)); // all stays in view
    }
    void (settings.view !== undefined && view.setView(numbersOf(settings.view)));
    return true;
}
const CHASED = 4.5; // m: a car's length

/** Moves the camera with what it follows. */
export function follow(view: Viewport, source: Source, settings: Settings): void {
    view.follow(placeOf(source, settings), turnsOf(settings, source.chases === true));
}

/** No more digits than can be seen. */
export function viewText(view: Viewport): string {
    const numbers = view.view();
    const size = numbers.length === 3 ? numbers[2]! : distanceOf(numbers);
    const digits = Math.min(Math.max(DIGITS - Math.floor(Math.log10(Math.max(size, 1e-9))), 0), 9);
    return numbers.map((one) => String(Number(one.toFixed(digits)) + 0)).join(',');
}
const distanceOf = (n: number[]): number => Math.hypot(n[0]! - n[3]!, n[1]! - n[4]!, n[2]! - n[5]!);
