# SPDX-License-Identifier: Apache-2.0
package Test::Configurations;

# The configurations that people have, as files: t/configs/NAME.conf, as an
# administrator would write it, with ${ROOT}, ${SITE} and ${PORT};
# NAME.htaccess lies in its document root. TARGETS has what is reached (make
# configurations), of which the tables of docs and README are made.

use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname basename);

our @EXPORT_OK = qw(names slurp about targets write_targets table put_between
    between summary $configs);

our $configs = dirname(__FILE__) . '/../../configs';

sub names { return sort map { basename($_, '.conf') } glob "$configs/*.conf" }

sub slurp {
    my ($path) = @_;
    open my $fh, '<:raw', $path or die "$path: $!";
    local $/;
    my $text = <$fh>;
    return $text // '';
}

# Title and description at the head of a configuration.
sub about {
    my ($name) = @_;
    my ($title, $text) = slurp("$configs/$name.conf")
        =~ /^# Title: (.*)\n((?:# .*\n)*)/m;
    $text =~ s/^# //mg;
    $text =~ s/\s+/ /g;
    $text =~ s/ $//;
    return ($title, $text);
}

# name => [plain, browser, what is in the way]
sub targets {
    my %t;
    for (split /\n/, slurp("$configs/TARGETS")) {
        next if /^#/;
        my ($name, $plain, $browser, $why) = split /\s*\|\s*/;
        $t{$name} = [ $plain, $browser, $why // '' ];
    }
    return %t;
}

sub write_targets {
    my (%t) = @_;
    open my $fh, '>', "$configs/TARGETS" or die "TARGETS: $!";
    print {$fh} <<'END_OF_HEAD';
# Shares (percent) of plain GETs that the loop answers, for a plain client and
# for browsers, and the first thing in the way. Written by make configurations.
END_OF_HEAD
    printf {$fh} "%s | %d | %d | %s\n", $_, @{ $t{$_} } for sort keys %t;
    close $fh or die "TARGETS: $!";
    return;
}

# The table of docs/configurations.md out of TARGETS.
sub table {
    my (%t) = @_;
    my $text = "| configuration | plain | browser | what is in the way |\n"
        . "|---|---:|---:|---|\n";
    for my $name (sort { $t{$b}[1] <=> $t{$a}[1] || $t{$b}[0] <=> $t{$a}[0]
            || $a cmp $b } keys %t) {
        my ($plain, $browser, $why) = @{ $t{$name} };
        my ($title, $about) = about($name);
        $about = lcfirst $about if $about =~ /^(?:A|As|The|With|Its) /;
        $about =~ s/\.$//;
        $text .= sprintf "| [%s](../t/configs/%s.conf): %s | %d %% | %d %% "
            . "| %s |\n", $title, $name, $about, $plain, $browser, $why;
    }
    return $text;
}

# Replaces what stands between the marks of that name in a file.
sub put_between {
    my ($path, $mark, $text) = @_;
    my $all = slurp($path);
    $all =~ s/(<!-- \Q$mark\E -->\n).*?(<!-- \/\Q$mark\E -->)/$1$text$2/s
        or die "$path has no mark $mark";
    open my $fh, '>', $path or die "$path: $!";
    print {$fh} $all;
    close $fh or die "$path: $!";
    return;
}

sub between {
    my ($path, $mark) = @_;
    my ($text) = slurp($path)
        =~ /<!-- \Q$mark\E -->\n(.*?)<!-- \/\Q$mark\E -->/s;
    return $text // '';
}

# The table of README out of TARGETS.
sub summary {
    my (%t) = @_;
    my %by;
    push @{ $by{"$t{$_}[0] % / $t{$_}[1] %"} }, $_ for sort keys %t;
    my $text = "| plain / browser | configurations |\n|---|---|\n";
    for my $share (sort { $t{ $by{$b}[0] }[0] + $t{ $by{$b}[0] }[1]
            <=> $t{ $by{$a}[0] }[0] + $t{ $by{$a}[0] }[1] || $a cmp $b }
            keys %by) {
        $text .= "| $share | " . join('; ', map { (about($_))[0] }
            @{ $by{$share} }) . " |\n";
    }
    return $text;
}

1;
