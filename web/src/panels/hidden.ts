// What is hidden in a panel, as the URL holds it: /scan,/points
export const encodeName = (name: string): string => encodeURIComponent(name).replace(/%2F/g, '/');
export function decodeName(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text; // written by hand
    }
}

export function hiddenOf(text: string | undefined): Set<string> {
    return new Set((text ?? '').split(',').filter(Boolean).map(decodeName));
}
export const hiddenText = (hidden: Set<string>): string | null => [...hidden].map(encodeName).join(',') || null;
