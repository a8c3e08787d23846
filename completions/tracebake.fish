# fish completion for tracebake
# Made by tools/make_completions.py from --help: change the options in
# src/option, src/cli.

function __tracebake_is
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

function __tracebake_has
    test (count (commandline -opc)) -eq $argv[1]
end

complete -c tracebake -f
complete -c tracebake -n '__tracebake_has 1' -l version -d 'The version'
complete -c tracebake -n '__tracebake_has 1' -l help -s h -d 'The commands'
complete -c tracebake -n '__tracebake_has 1' -a nat -d 'convert a NeMo Agent Toolkit profiler trace'
complete -c tracebake -n '__tracebake_has 1' -a telemetry -d 'convert telemetry JSONL with llm_call events'
complete -c tracebake -n '__tracebake_has 1' -a render -d 'turn messages and tools into prompts by a chat template'
complete -c tracebake -n '__tracebake_has 1' -a tokenize -d 'turn JSON strings into lists of token ids'
complete -c tracebake -n '__tracebake_has 1' -a analyze -d 'lengths, sessions and prefix cache of rows'
complete -c tracebake -n '__tracebake_has 1' -a validate -d 'check rows against the rules of who will replay them'
complete -c tracebake -n '__tracebake_has 1' -a verify -d 'compare what a load tester sent with what was recorded'
complete -c tracebake -n '__tracebake_has 1' -a reblock -d 'give rows a larger block size'
complete -c tracebake -n '__tracebake_has 1' -a rewrite -d 'give rows another consumer\'s form'
complete -c tracebake -n '__tracebake_has 1' -a share -d 'make rows that can be given away'
complete -c tracebake -n '__tracebake_has 1' -a sample -d 'keep some of the sessions, with their mix'
complete -c tracebake -n '__tracebake_has 1' -a partition -d 'deal out lines so that sessions are whole'
complete -c tracebake -n '__tracebake_has 1' -a merge -d 'make rows that were converted apart those of one run'
complete -c tracebake -n '__tracebake_has 1' -a tokenizer -d 'list and pull and show and clear'
complete -c tracebake -n '__tracebake_has 2; and __tracebake_is tokenizer' -a list -d 'list the tokenizers on this machine'
complete -c tracebake -n '__tracebake_has 2; and __tracebake_is tokenizer' -a pull -d 'fetch a tokenizer from the Hugging Face hub'
complete -c tracebake -n '__tracebake_has 2; and __tracebake_is tokenizer' -a show -d 'say what a tokenizer consists of'
complete -c tracebake -n '__tracebake_has 2; and __tracebake_is tokenizer' -a clear -d 'remove compiled forms of tokenizers'

complete -c tracebake -n '__tracebake_is nat' -F
complete -c tracebake -n '__tracebake_is nat' -l input-file -r -F -d 'A trace to convert'
complete -c tracebake -n '__tracebake_is nat' -l files-from -r -F -d 'Read more names of traces from the file LIST, one a line'
complete -c tracebake -n '__tracebake_is nat' -l output-file -r -F -d 'Where the rows go'
complete -c tracebake -n '__tracebake_is nat' -l calls -r -F -d 'Write one line of JSON per call to FILE too, also for calls without a row'
complete -c tracebake -n '__tracebake_is nat' -l report -r -F -d 'Write a page of figures of the rows and their calls to FILE too'
complete -c tracebake -n '__tracebake_is nat' -l tokenizer -r -F -a builtin -d 'A tokenizer.json, tekken.json, tokenizer.model or *.tiktoken, a folder with one, \'builtin\' (o200k_base), or a model on the Hugging Face hub such as org/model or org/model@revision, which is fetched once'
complete -c tracebake -n '__tracebake_is nat' -l block-size -x -d 'Tokens per block, of which each has one id'
complete -c tracebake -n '__tracebake_is nat' -l prompt -x -a 'auto template join' -d 'How the messages of a call become one text'
complete -c tracebake -n '__tracebake_is nat' -l chat-template -r -F -d 'Take the chat template from this file'
complete -c tracebake -n '__tracebake_is nat' -l chat-template-kwargs -x -d 'An object of more variables for the template, as they were given to the server'
complete -c tracebake -n '__tracebake_is nat' -l special-tokens -x -d 'An object of special tokens for the template, before those of the tokenizer'
complete -c tracebake -n '__tracebake_is nat' -l lengths -x -a 'usage tokens' -d 'Who leads when the server\'s recorded count of a prompt and our own differ'
complete -c tracebake -n '__tracebake_is nat' -l ids -x -a 'order content' -d 'What the ids of blocks are'
complete -c tracebake -n '__tracebake_is nat' -l salt-file -r -F -d 'With --ids content'
complete -c tracebake -n '__tracebake_is nat' -l num-requests -x -d 'Convert only N requests of the trace'
complete -c tracebake -n '__tracebake_is nat' -l skip-requests -x -d 'First leave out N requests'
complete -c tracebake -n '__tracebake_is nat' -l keep-failed -d 'Give calls that never ended a row too, with 1 token of output'
complete -c tracebake -n '__tracebake_is nat' -l for -x -a 'mooncake aiperf dynamo' -d 'Set what follows to what that consumer needs, and print the command that replays the rows'
complete -c tracebake -n '__tracebake_is nat' -l rows -x -a 'whole delta messages' -d 'What a row holds'
complete -c tracebake -n '__tracebake_is nat' -l endpoint -x -a 'completions chat' -d 'What the replay will call'
complete -c tracebake -n '__tracebake_is nat' -l delay -x -a 'none recorded' -d 'Give each row of a session but its first a delay after the answer before'
complete -c tracebake -n '__tracebake_is nat' -l max-delay -x -d 'No recorded gap is longer than MS milliseconds'
complete -c tracebake -n '__tracebake_is nat' -l speedup -x -d 'Divide recorded gaps, after --max-delay, and timestamps by X'
complete -c tracebake -n '__tracebake_is nat' -l timestamps -x -a 'none session all' -d 'Give the first row of each session, or all rows, the time of their start, in milliseconds since the first call of the trace'
complete -c tracebake -n '__tracebake_is nat' -l session-prefix -x -a 'auto always never path' -d 'Put the name of the trace\'s file in front of each session id, so that sessions of two files stay apart'
complete -c tracebake -n '__tracebake_is nat' -l compat -d 'Write byte for byte what the Python converters write with the same block size, tokenizer and delay'
complete -c tracebake -n '__tracebake_is nat' -l stats -x -a 'text json none' -d 'What to tell at the end'
complete -c tracebake -n '__tracebake_is nat' -l strict -d 'Fail, and write nothing, when anything in the trace had to be left out'
complete -c tracebake -n '__tracebake_is nat' -l dry-run -d 'Do everything but write files'
complete -c tracebake -n '__tracebake_is nat' -l threads -x -d 'How many threads work'
complete -c tracebake -n '__tracebake_is nat' -l max-memory -x -d 'Fail rather than take more than so many bytes (or K, M, G of them)'
complete -c tracebake -n '__tracebake_is nat' -l no-reuse -d 'Read and encode every prompt anew, also where it repeats an earlier one'
complete -c tracebake -n '__tracebake_is nat' -l quiet -d 'No progress, no warnings, no summary'
complete -c tracebake -n '__tracebake_is nat' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is telemetry' -F
complete -c tracebake -n '__tracebake_is telemetry' -l input-file -r -F -d 'A trace to convert'
complete -c tracebake -n '__tracebake_is telemetry' -l files-from -r -F -d 'Read more names of traces from the file LIST, one a line'
complete -c tracebake -n '__tracebake_is telemetry' -l output-file -r -F -d 'Where the rows go'
complete -c tracebake -n '__tracebake_is telemetry' -l calls -r -F -d 'Write one line of JSON per call to FILE too, also for calls without a row'
complete -c tracebake -n '__tracebake_is telemetry' -l report -r -F -d 'Write a page of figures of the rows and their calls to FILE too'
complete -c tracebake -n '__tracebake_is telemetry' -l tokenizer -r -F -a builtin -d 'A tokenizer.json, tekken.json, tokenizer.model or *.tiktoken, a folder with one, \'builtin\' (o200k_base), or a model on the Hugging Face hub such as org/model or org/model@revision, which is fetched once'
complete -c tracebake -n '__tracebake_is telemetry' -l block-size -x -d 'Tokens per block, of which each has one id'
complete -c tracebake -n '__tracebake_is telemetry' -l prompt -x -a 'auto template join' -d 'How the messages of a call become one text'
complete -c tracebake -n '__tracebake_is telemetry' -l chat-template -r -F -d 'Take the chat template from this file'
complete -c tracebake -n '__tracebake_is telemetry' -l chat-template-kwargs -x -d 'An object of more variables for the template, as they were given to the server'
complete -c tracebake -n '__tracebake_is telemetry' -l special-tokens -x -d 'An object of special tokens for the template, before those of the tokenizer'
complete -c tracebake -n '__tracebake_is telemetry' -l lengths -x -a 'usage tokens' -d 'Who leads when the server\'s recorded count of a prompt and our own differ'
complete -c tracebake -n '__tracebake_is telemetry' -l ids -x -a 'order content' -d 'What the ids of blocks are'
complete -c tracebake -n '__tracebake_is telemetry' -l salt-file -r -F -d 'With --ids content'
complete -c tracebake -n '__tracebake_is telemetry' -l for -x -a 'mooncake aiperf dynamo' -d 'Set what follows to what that consumer needs, and print the command that replays the rows'
complete -c tracebake -n '__tracebake_is telemetry' -l rows -x -a 'whole delta messages' -d 'What a row holds'
complete -c tracebake -n '__tracebake_is telemetry' -l endpoint -x -a 'completions chat' -d 'What the replay will call'
complete -c tracebake -n '__tracebake_is telemetry' -l delay -x -a 'none recorded' -d 'Give each row of a session but its first a delay after the answer before'
complete -c tracebake -n '__tracebake_is telemetry' -l max-delay -x -d 'No recorded gap is longer than MS milliseconds'
complete -c tracebake -n '__tracebake_is telemetry' -l speedup -x -d 'Divide recorded gaps, after --max-delay, and timestamps by X'
complete -c tracebake -n '__tracebake_is telemetry' -l timestamps -x -a 'none session all' -d 'Give the first row of each session, or all rows, the time of their start, in milliseconds since the first call of the trace'
complete -c tracebake -n '__tracebake_is telemetry' -l session-prefix -x -a 'auto always never path' -d 'Put the name of the trace\'s file in front of each session id, so that sessions of two files stay apart'
complete -c tracebake -n '__tracebake_is telemetry' -l compat -d 'Write byte for byte what the Python converters write with the same block size, tokenizer and delay'
complete -c tracebake -n '__tracebake_is telemetry' -l stats -x -a 'text json none' -d 'What to tell at the end'
complete -c tracebake -n '__tracebake_is telemetry' -l strict -d 'Fail, and write nothing, when anything in the trace had to be left out'
complete -c tracebake -n '__tracebake_is telemetry' -l dry-run -d 'Do everything but write files'
complete -c tracebake -n '__tracebake_is telemetry' -l threads -x -d 'How many threads work'
complete -c tracebake -n '__tracebake_is telemetry' -l max-memory -x -d 'Fail rather than take more than so many bytes (or K, M, G of them)'
complete -c tracebake -n '__tracebake_is telemetry' -l no-reuse -d 'Read and encode every prompt anew, also where it repeats an earlier one'
complete -c tracebake -n '__tracebake_is telemetry' -l quiet -d 'No progress, no warnings, no summary'
complete -c tracebake -n '__tracebake_is telemetry' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is render' -F
complete -c tracebake -n '__tracebake_is render' -l tokenizer -r -F -a builtin -d 'The folder with the chat template, or a tokenizer.json in it, or a model on the Hugging Face hub such as org/model or org/model@revision'
complete -c tracebake -n '__tracebake_is render' -l chat-template -r -F -d 'Take the template from this file'
complete -c tracebake -n '__tracebake_is render' -l chat-template-kwargs -x -d 'An object of more variables for the template, such as \'{"enable_thinking"'
complete -c tracebake -n '__tracebake_is render' -l special-tokens -x -d 'An object of special tokens that go before those of the tokenizer, such as \'{"bos_token"'
complete -c tracebake -n '__tracebake_is render' -l now -x -d 'What templates that ask for the time get, in seconds since 1970, UTC'
complete -c tracebake -n '__tracebake_is render' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is tokenize' -F
complete -c tracebake -n '__tracebake_is tokenize' -l tokenizer -r -F -a builtin -d 'A tokenizer.json, tekken.json, tokenizer.model or *.tiktoken, a folder with one, \'builtin\' (o200k_base), or a model on the Hugging Face hub such as org/model or org/model@revision'
complete -c tracebake -n '__tracebake_is tokenize' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is analyze' -F
complete -c tracebake -n '__tracebake_is analyze' -l block-size -x -d 'Tokens of a block'
complete -c tracebake -n '__tracebake_is analyze' -l rows -x -a 'auto whole delta' -d 'What a row holds'
complete -c tracebake -n '__tracebake_is analyze' -l block-sizes -x -d 'Tell for these block sizes too, multiples of the rows\' own, what a prefix cache would serve'
complete -c tracebake -n '__tracebake_is analyze' -l cache-blocks -x -d 'Tell for caches of so many blocks too, beside powers of two'
complete -c tracebake -n '__tracebake_is analyze' -l kv-bytes-per-token -x -d 'Show cache sizes in GiB too'
complete -c tracebake -n '__tracebake_is analyze' -l hit-rate -x -a 'tokens blocks aiperf any-block reuse all' -d 'Show the share as other tools count it under the same name'
complete -c tracebake -n '__tracebake_is analyze' -l calls -r -F -d 'The calls of the rows, as a converter wrote them with --calls beside them'
complete -c tracebake -n '__tracebake_is analyze' -l report -r -F -d 'Write the figures as a page too'
complete -c tracebake -n '__tracebake_is analyze' -l json -d 'One JSON object, on one line, with all figures'
complete -c tracebake -n '__tracebake_is analyze' -l threads -x -d 'How many threads work'
complete -c tracebake -n '__tracebake_is analyze' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is validate' -F
complete -c tracebake -n '__tracebake_is validate' -l for -x -a 'aiperf mooncake dynamo' -d 'Who will replay the rows'
complete -c tracebake -n '__tracebake_is validate' -l block-size -x -d 'Tokens of a block in the replay (aiperf'
complete -c tracebake -n '__tracebake_is validate' -l max-messages -x -d 'How many findings of one rule to show'
complete -c tracebake -n '__tracebake_is validate' -l json -d 'One JSON object a file, on one line'
complete -c tracebake -n '__tracebake_is validate' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is verify' -F
complete -c tracebake -n '__tracebake_is verify' -l calls -r -F -d 'The calls, as a converter wrote them with --calls beside the rows that were replayed'
complete -c tracebake -n '__tracebake_is verify' -l rows -r -F -d 'The rows that were replayed'
complete -c tracebake -n '__tracebake_is verify' -l tolerance -x -d 'How many tokens a prompt or an answer may differ by'
complete -c tracebake -n '__tracebake_is verify' -l late -x -d 'How many milliseconds later or earlier than recorded a turn may follow the answer before, and a session begin after the first'
complete -c tracebake -n '__tracebake_is verify' -l json -d 'One JSON object, on one line, with all figures and causes'
complete -c tracebake -n '__tracebake_is verify' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is reblock' -F
complete -c tracebake -n '__tracebake_is reblock' -l block-size -x -d 'Tokens of a block in the new rows'
complete -c tracebake -n '__tracebake_is reblock' -l from -x -d 'Tokens of a block in the rows, where no meta file says it'
complete -c tracebake -n '__tracebake_is reblock' -l output-file -r -F -d 'Where the rows go'
complete -c tracebake -n '__tracebake_is reblock' -l quiet -d 'Only errors and warnings'
complete -c tracebake -n '__tracebake_is reblock' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is rewrite' -F
complete -c tracebake -n '__tracebake_is rewrite' -l for -x -a 'mooncake aiperf dynamo' -d 'Who is to replay the rows'
complete -c tracebake -n '__tracebake_is rewrite' -l calls -r -F -d 'The calls that the converter wrote beside the rows with --calls'
complete -c tracebake -n '__tracebake_is rewrite' -l endpoint -x -a 'completions chat' -d 'What the replay will call'
complete -c tracebake -n '__tracebake_is rewrite' -l max-delay -x -d 'No recorded gap is longer than MS milliseconds'
complete -c tracebake -n '__tracebake_is rewrite' -l speedup -x -d 'Divide recorded gaps, after --max-delay, and timestamps by X'
complete -c tracebake -n '__tracebake_is rewrite' -l output-file -r -F -d 'Where the rows go'
complete -c tracebake -n '__tracebake_is rewrite' -l quiet -d 'Only errors'
complete -c tracebake -n '__tracebake_is rewrite' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is share' -F
complete -c tracebake -n '__tracebake_is share' -l output-file -r -F -d 'Where the rows go'
complete -c tracebake -n '__tracebake_is share' -l salt-file -r -F -d 'Make ids and names with the secret in FILE instead of numbering them, so that files that are shared apart with the same secret still fit together'
complete -c tracebake -n '__tracebake_is share' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is sample' -F
complete -c tracebake -n '__tracebake_is sample' -l sessions -x -d 'How many sessions to keep'
complete -c tracebake -n '__tracebake_is sample' -l max-tokens -x -d 'Keep as many sessions as have no more than N tokens together'
complete -c tracebake -n '__tracebake_is sample' -l seed -x -d 'Another number gives another sample, the same one the same on every machine'
complete -c tracebake -n '__tracebake_is sample' -l block-size -x -d 'Tokens of a block'
complete -c tracebake -n '__tracebake_is sample' -l output-file -r -F -d 'Where the rows go'
complete -c tracebake -n '__tracebake_is sample' -l quiet -d 'Only errors'
complete -c tracebake -n '__tracebake_is sample' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is partition' -F
complete -c tracebake -n '__tracebake_is partition' -l parts -x -d 'How many files to make'
complete -c tracebake -n '__tracebake_is partition' -l output-dir -x -d 'Where they go'
complete -c tracebake -n '__tracebake_is partition' -l by -x -d 'What stays together'
complete -c tracebake -n '__tracebake_is partition' -l compress -x -a 'none gz zst' -d 'Compress the parts, and put .gz or .zst behind their names'
complete -c tracebake -n '__tracebake_is partition' -l quiet -d 'Only errors and warnings'
complete -c tracebake -n '__tracebake_is partition' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is merge' -F
complete -c tracebake -n '__tracebake_is merge' -l output-file -r -F -d 'Where the rows go'
complete -c tracebake -n '__tracebake_is merge' -l files-from -r -F -d 'Read more names of files from the file LIST, one a line'
complete -c tracebake -n '__tracebake_is merge' -l max-memory -x -d 'Memory for numbering blocks, in bytes (or K, M, G of them)'
complete -c tracebake -n '__tracebake_is merge' -l quiet -d 'Only errors'
complete -c tracebake -n '__tracebake_is merge' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is tokenizer list' -l json -d 'One JSON object on one line instead of text'
complete -c tracebake -n '__tracebake_is tokenizer list' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is tokenizer pull' -F
complete -c tracebake -n '__tracebake_is tokenizer pull' -l quiet -d 'No progress, no summary'
complete -c tracebake -n '__tracebake_is tokenizer pull' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is tokenizer show' -F
complete -c tracebake -n '__tracebake_is tokenizer show' -l json -d 'One JSON object on one line instead of text'
complete -c tracebake -n '__tracebake_is tokenizer show' -s h -l help -d 'Show this page'

complete -c tracebake -n '__tracebake_is tokenizer clear' -F
complete -c tracebake -n '__tracebake_is tokenizer clear' -s h -l help -d 'Show this page'
