// What is wrong with the search, and what may have been meant.
import { setQuery } from '../../address';
import { useStore } from '../../store';
import { libraryText } from '../../text/library';
import { Button } from '../../ui';
import { corrected, mistake } from './mistakes';

export function Mistakes() {
    const wrong = useStore(mistake);
    if (!wrong) {
        return null;
    }
    return (
        <div class="library-mistake" role="alert">
            <span>{wrong.message}</span>
            {wrong.suggestions.length > 0 && <span>{libraryText.meant}</span>}
            {wrong.suggestions.map((suggestion) => (
                <Button key={suggestion} onClick={() => setQuery({ q: corrected(wrong, suggestion), row: null })}>
                    {suggestion}
                </Button>
            ))}
        </div>
    );
}
