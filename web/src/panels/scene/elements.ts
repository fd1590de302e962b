// CPK colours of the elements, and radii in nanometres (a third of the van der Waals radius).
const KNOWN: Record<number, [colour: string, radius: number]> = {
    1: ['#f2f2f2', 0.036],
    2: ['#d9ffff', 0.047],
    3: ['#cc80ff', 0.061],
    5: ['#ffb5b5', 0.064],
    6: ['#70757c', 0.057],
    7: ['#3050f8', 0.052],
    8: ['#ff2d2d', 0.051],
    9: ['#90e050', 0.049],
    11: ['#ab5cf2', 0.076],
    12: ['#5fd000', 0.058],
    14: ['#d8b088', 0.07],
    15: ['#ff8000', 0.06],
    16: ['#e6c62a', 0.06],
    17: ['#1fd01f', 0.058],
    19: ['#8f40d4', 0.092],
    20: ['#3dbb00', 0.077],
    26: ['#e06633', 0.068],
    29: ['#c88033', 0.047],
    30: ['#7d80b0', 0.046],
    35: ['#a62929', 0.062],
    53: ['#940094', 0.066],
    79: ['#e8b923', 0.055],
};

export const elementColour = (number: number): string => KNOWN[number]?.[0] ?? '#e040c0';
export const elementRadius = (number: number): number => KNOWN[number]?.[1] ?? 0.06;

/** Distinct colours for numbered things: residues, topics. */
export function colourOfNumber(n: number): string {
    return `hsl(${Math.round((n * 137.508) % 360)}, 62%, ${52 + (n % 3) * 7}%)`;
}

const SYMBOLS =
    'H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U'.split(
        ' ',
    );
/** The symbol of an element; '' for what is none. */
export const elementName = (number: number): string => SYMBOLS[number - 1] ?? '';
