package ui

// What is done by commands, menus and marks.
const (
	doCommand  intent = "command"
	doRun      intent = "run"
	doGiveUp   intent = "leave-line"
	doEarlier  intent = "earlier-line"
	doLater    intent = "later-line"
	doFilterBy intent = "filter-by"
	doSourceIs intent = "source"
	doSortBy   intent = "sort-by"
	doUTC      intent = "utc"

	doAcquireBy  intent = "acquire-by-name"
	doCampaignBy intent = "campaign-by-name"
	doKeepScreen intent = "quit-leaving-text"
	doQuitText   intent = "quit-and-leave-text"
	doTheme      intent = "theme"
	doNext       intent = "next-match"
	doPrevious   intent = "previous-match"
	doMark       intent = "mark"
	doUnmark     intent = "clear-marks"
	doSameOwner  intent = "same-owner"
	doWidth      intent = "width"
	doMouse      intent = "mouse"
	doCopy       intent = "copy"
	doExport     intent = "export"

	doCopyName    intent = "copy-name"
	doCopyOwner   intent = "copy-owner"
	doCopyJSON    intent = "copy-json"
	doCopyCommand intent = "copy-command"
	doExportText  intent = "export-text"
	doExportJSON  intent = "export-json"

	doExportCSV      intent = "export-csv"
	doExportMarkdown intent = "export-markdown"

	doByProblems intent = "sort-by-problems"
	doByName     intent = "sort-by-name"
	doBySource   intent = "sort-by-source"
	doByKind     intent = "sort-by-kind"
	doByOwner    intent = "sort-by-owner"
	doBySince    intent = "sort-by-since"
	doByLease    intent = "sort-by-lease"
	doByWait     intent = "sort-by-wait"
	doByChanges  intent = "sort-by-changes"
)

// lineBindings are the rows of the table for lines that are typed, for menus and marks.
func lineBindings() []binding {
	return append([]binding{
		{doCommand, inViews, []string{":"}, "command", "type a command"},
		{doSameOwner, inList | inDetail, []string{"*"}, "same owner", "only rows of this owner; again: as before"},
		{doNext, inList, []string{"n"}, "", "next row that fits the last filter"},
		{doPrevious, inList, []string{"N"}, "", "previous row that fits the last filter"},
		{doMark, inList, []string{"space"}, "", "mark the row, or no more; marks stay with their rows"},
		{doUnmark, inList, []string{"u"}, "", "clear all marks"},
		{doCopy, inRow, []string{"y"}, "copy", "copy name, owner, JSON or command (or of marked rows)"},
		{doExport, inList, []string{"e"}, "export", "write what is shown, or is marked, to a file here"},
		{doWidth, inList, []string{"z"}, "", "columns: normal, wide names, narrow with a long strip"},
		{doMouse, inBoards, []string{"m", ":mouse"}, "", "mouse on or off; off, the terminal selects text"},
		{doFilterBy, inCommand, []string{":filter EXPR"}, "", "show only what is asked for; nothing: all"},
		{doSourceIs, inCommand, []string{":source NAME|all"}, "", "only rows of that source"},
		{doSortBy, inCommand, []string{":sort COLUMN"}, "", "order the list; the same again reverses"},
		{doAcquireBy, inCommand, []string{":acquire NAME"}, "", "open the box that acquires the row of that name"},
		{doCampaignBy, inCommand, []string{":campaign NAME"}, "", "open the box that campaigns for the row of that name"},
		{doUTC, inCommand, []string{":utc"}, "", "times in UTC or in the local zone"},
		{doTheme, inCommand, []string{":theme NAME"}, "", "auto, dark or light"},
		{doRun, inCommand | inHelp | inHelpText, []string{"enter"}, "run", "run the line; letters typed in this help look for words"},
		{doGiveUp, inCommand | inHelpText, []string{"esc"}, "leave", "leave the line"},
		{doEarlier, inCommand, []string{"up"}, "", "the command before"},
		{doLater, inCommand, []string{"down"}, "", "the command after"},
		{doUp, inHelpText, []string{"up"}, "", "one line up"},
		{doDown, inHelpText, []string{"down"}, "", "one line down"},
		{doPageUp, inHelpText, []string{"pgup"}, "", "a page up"},
		{doPageDown, inHelpText, []string{"pgdown"}, "", "a page down"},
	}, menuBindings()...)
}

// menuBindings are the menus of orders, copies and exports.
func menuBindings() []binding {
	return []binding{
		{doByProblems, inSort, []string{"p"}, "problems", "what is wrong first"},
		{doByName, inSort, []string{"n"}, "name", "by name"},
		{doBySource, inSort, []string{"s"}, "source", "by source"},
		{doByKind, inSort, []string{"k"}, "kind", "by kind"},
		{doByOwner, inSort, []string{"o"}, "owner", "by owner"},
		{doBySince, inSort, []string{"t"}, "since", "the newest first"},
		{doByLease, inSort, []string{"l"}, "lease", "the least left first"},
		{doByWait, inSort, []string{"w"}, "wait", "the longest wait first"},
		{doByChanges, inSort, []string{"c"}, "changes", "most changes first"},
		{doCopyName, inCopy, []string{"n"}, "name", "ask the terminal to copy the name"},
		{doCopyOwner, inCopy, []string{"o"}, "owner", "ask the terminal to copy the owner"},
		{doCopyJSON, inCopy, []string{"j"}, "JSON", "ask the terminal to copy what get -o json prints"},
		{doCopyCommand, inCopy, []string{"c"}, "command", "ask the terminal to copy the command that shows this"},
		{doQuitText, inKeep, []string{"y"}, "quit; any other key stays", "quit, and leave what is shown as text"},
		{doExportText, inExport, []string{"t"}, "text", "write a table"},
		{doExportJSON, inExport, []string{"j"}, "JSON lines", "write one JSON object a row"},
		{doExportCSV, inExport, []string{"c"}, "CSV", "write a table for a spreadsheet"},
		{doExportMarkdown, inExport, []string{"m"}, "Markdown", "write a table for a ticket"},
	}
}
