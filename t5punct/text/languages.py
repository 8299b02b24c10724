"""Which language a text seems to be in, and whether it has spaces between words.

In: words.  Out: a language, `German`, or an alphabet, `Cyrillic letters`; None if the text is too short or unclear.
The guess is made from a text's alphabet, its letters, and its small words, which are frequent in any text.

Chinese, Japanese, Thai, Lao, Burmese and Khmer are written without spaces between words.  What stands between white
space are phrases, and marks could only be set behind these.  Such a text can be punctuated once it is cut into words.

>>> guess_language("wie geht es dir heute und was machst du".split())
'German'
>>> guess_language("how are you today and what do you do".split()), guess_language(["hola"])
('English', None)
>>> is_unspaced("我们知道这个事情是对的吗 我不知道今天天气"), is_unspaced("我们 知道 这个 事情 " * 9)
(True, False)
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from ..errors import InputError

LANGUAGES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese",
    "nl": "Dutch", "pl": "Polish", "hu": "Hungarian",
}  # fmt: skip
# the most frequent words of the training corpora, without titles, names and topics; languages share some, but a text
# has more of its own language's
_SMALL_WORDS = {
    "English": "the to and of that you in it is we for on have this so be are with at was as what there but do not"
    " can would like or it's if think about which that's just from will they by an our up now has know out"
    " i'm how then some want going been don't me my your were could did he she his her their when where"
    " who why because very"
    " one had more no get them see right go other any also well these into over need should make those way"
    " us back here him much than really its only am something we're use great even you're through take"
    " things does still many too before please after made come being again around",
    "German": "die und der ich sie das nicht ist in zu es den wir von ein auch mit auf so sich für eine aber er im"
    " haben was dass dem hat man wie ja sind an als du mir noch nur wenn war werden wird mich aus des daß"
    " um doch bei kann hier nach einen sein uns diese dann jetzt sehr ihr ihnen meine mehr dir oder weil"
    " da denn schon vor einer über zum habe einem wieder dieser mein immer bin ganz alle können nichts nun"
    " dich zur am ihn sagen ihm durch alles keine einmal ihre etwas will wollen wer soll gibt heute diesem"
    " nein wo müssen hatte hast also mal gar bitte bis geht machen damit muss gut muß dieses wurde lassen"
    " kein unter wäre viel ob kommt warum weiß kommen bist wissen seine vom wirklich zeit diesen dazu"
    " selbst",
    "French": "de la et le les que vous des il en un pas qui ce une je ne du elle nous pour dans est se sur au"
    " c'est plus mais par était tout avec cette son on comme qu'il avait même sa bien si ces sont être"
    " fait là ses votre d'une d'un leur donc été n'est qu'est j'ai quoi où ça"
    " aux cela soutenir ou faire notre cet aussi ont très me tous lui nos avons sans mon dit encore dire"
    " faut suis également peut non aujourd'hui déjà avez quand dont soit peu temps ils entre doit l'avis"
    " sera contre quel ainsi qu'elle effet depuis ma sommes parce toute toutes leurs mes",
    "Spanish": "de que la en el los no se es las por un con lo del para una su al como si más ha pero sus este les"
    " cuando él también son han os ya nos esta qué hay está sobre gracias todos ellos porque todo muy"
    " quien sin hemos entre así me te tiene esto ni usted yo cómo estás hola eso ahora tengo puede y"
    " le mi he desde hace bien hacer era ser aquí están cada hasta siempre puedo nada va vez hoy tiempo"
    " muchas ver tenemos mucho sí donde quiero tener esa solo vamos otro tanto antes otros ese decir"
    " estado entonces tan todas fue había poco mismo estos otra tienen estas manera mejor menos algo"
    " ustedes uno estoy estamos hecho sólo sido nuevo mis ella favor",
    "Italian": "di che la il in non un per una si le del della con al ma più da alla gli delle dei se ha lo come mi"
    " questo sono era nel ad questa nella ed io così tutto quando quella sia senza aveva ci ho tutti loro"
    " è cosa perché anche abbiamo ti cui hai mio siamo dove ciao stai"
    " su essere sua dal fare sul molto suo dopo solo dalla altri sempre stato fatto qualche ogni alle"
    " grazie degli due quanto me mia hanno sulla può to volta ne ancora vi tempo quel tra già ciò posso"
    " uno ai nelle quale poi egli quello ora possibile lei quindi nulla disse fa perchè tutte altro"
    " provato vorrei bene viene c'è lui stesso nei so riesco tanto proprio forse no questi noi",
    "Portuguese": "de que não se do da para os um uma com as em na no por como mais me ao dos lhe tem há está tudo das"
    " ou só esta eu nos todos sua aqui te já sem também foi até sobre mesmo este nem são pela aos isto"
    " você isso mas muito ele nós obrigado"
    " quando seu ser pelo meu fazer era pode agora ainda estão minha bem nada eles disse sempre essa entre"
    " esse apenas porque depois nas tempo ter outros às outro assim tenho quem vez então seus estava estou"
    " onde alguns vai estado num consigo tinha quero hoje novo vezes qual antes pois todo suas lá todas"
    " toda qualquer seja tão cada foram desde enquanto será nunca após dizer",
    "Dutch": "het de een van en in is dat te zijn op was hij niet die ik voor er met je om aan we den maar als"
    " door ook had nog ze naar kan wat dan bij deze hebben worden hem men zich heeft uit over dit geen"
    " moet al zij meer of tot wij werd haar wel onze mijn moeten kunnen ons wordt"
    " heb nu mij hoe zou zal daar gaat veel andere dus goed na alle gaan hun doen zo wil nieuwe heel"
    " eerste onder waar uw hier echter staat weer der toch maken toen zoals tegen alleen zien zullen komt"
    " omdat waren want komen iets ten opnieuw staan hebt zeer krijg alles vandaag via weet laten graag"
    " eens altijd vaak welke zonder steeds",
    "Polish": "się nie to na że do co ale tak ja mnie jak jest po już za czy więc było bo tylko jeszcze on od"
    " bardzo może mię nic jego tu przez gdy mu tego była dla coś mi te będzie ten tam ta być jej ze nawet"
    " był teraz jednak jestem nigdy trzeba są który i w z"
    " ty tym tej ma go sobie proszę ci przy no wszystko które mam jeżeli wiem nas niech aby ona nad mój"
    " też ją cóż kto dobrze tych można żeby ich bez ani nim by sie również chodzi kiedy moja tem chcę"
    " chcesz jako czego cię która zawsze także dziś potem gdzie siebie moje oraz tę powiedzieć miał nam"
    " raz właśnie niego ciebie takie lecz jeśli ach chyba przecież musi sam taki",
    "Hungarian": "az hogy nem és egy is én de van meg ha csak már volt ne ez azt még most mint mert vagyok el itt mit"
    " olyan ki mi vagy jó úgy sem kell nagyon nekem ezt akkor lesz lehet ilyen minden ott majd neki mikor"
    " hát volna így be pedig aki amikor után két ami nincs fel te valami új amit aztán több más miért"
    " azért arra mindig tudom szerint le hanem milyen igen se között alatt sok ahol hiszen egyik lett"
    " amely azonban annak magát mintha ezek kérem rá talán semmi köszönöm tudja ezért előtt másik ennek ma"
    " való miatt elég vele vannak által mind ahogy saját éppen kellett hogyan egyszer ezzel lenne hol őket"
    " vissza erre valamint át újra tehát számára ebben akik fog mellett nélkül óta hozzá mégis voltak",
    "Czech": "je se na že to jsem ale jak tak už které jsou byl bych není při také jako nebo od pro když jsme",
    "Swedish": "och att det är som en på jag för inte av med har vi till den var han ska men vad hur mycket",
    "Danish": "og at det er som en på jeg ikke af med har vi til den var han skal men hvad hvor meget også",
    "Norwegian": "og det er som en på jeg ikke av med har vi til den var han skal men hva hvor mye også å",
    "Finnish": "ja on ei että se hän mutta niin kun oli minä ole mitä tämä nyt olen myös kuin voi ovat",
    "Romanian": "și nu este că în pe cu mai sunt din pentru care o am ce dar foarte acest fi ca să",
    "Slovak": "je sa na že to som ale ako čo tak už ktoré sú bol nie pri aj alebo od pre keď sme by či",
    "Serbian or Croatian": "je i da se na u za nije sam su što kao ali od ja ti smo to li bio koji ovo šta jer ili sve",
    "Vietnamese": "và của là có không được cho một tôi người này trong với các đã những khi để như thì",
    "Indonesian": "yang dan di ini itu dengan untuk tidak dari dalam akan pada ke ada juga saya kita mereka adalah"
    " sudah kami karena apakah bisa",
    "Afrikaans": "die en is nie het van in ek jy my ons hulle wat dit vir met om kan sal aan was ook baie maar"
    " daar hierdie wees moet gaan na toe julle niks",
    "Catalan": "el la i que de no és un una en per amb els les del al com més però aquest aquesta hi ha molt"
    " tot també són què jo meu seva perquè quan fer gràcies avui vull anar vaig",
    "Estonian": "ja on ei see ma et ta oli kui mis aga nii me siis ka oma mul kas sa nad olen väga selle seda"
    " veel midagi mida tema täna hästi",
    "Lithuanian": "ir yra ne aš kad tai į su iš bet kaip buvo jis ji mes ar už tik labai dar man jau šiandien"
    " kur mano bus gali apie",
    "Icelandic": "og að er ég það í á ekki við var sem um en með hann hún þetta fyrir svo hvað mjög til þú"
    " þeir eru hafa",
    "Albanian": "dhe është në të një që për me nuk unë por si kjo ky janë ka shumë më nga ishte do jam çfarë sot atë",
    "Basque": "eta da ez bat dut du zen hau ere oso baina nire gara dira dago zer egin gaur behar izan naiz dugu honek",
    "Swahili": "na ya wa ni kwa katika za la hii hiyo kuwa sisi yangu yako leo lakini sana huyu watu nini mimi"
    " wewe alikuwa",
    "Tagalog": "ang ng sa na mga ay at ako ko siya hindi ito mo niya kami tayo para lang po pero ikaw kung may isang",
    "Turkish": "bir ve bu için çok var ben ama gibi daha değil olarak sonra kadar yok şey",
}
# letters that only one of these languages has
_OWN_LETTERS = {
    "German": "ß", "Spanish": "ñ", "Portuguese": "ãõ", "Polish": "ąęłśźż", "Hungarian": "őű", "Czech": "ěřů",
    "Slovak": "ľĺŕ", "Romanian": "ățșţ", "Turkish": "ğı",
    "Vietnamese": "ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}  # fmt: skip
SMALL_WORDS = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
_WORDS = 1000  # how many first words of a text are read
_FEWEST = 3  # words of a language: in a shorter text, the language is not clear
_LEAST_SHARE = 0.15  # of a language's words among all words; a text in the language has a third or more
# first and last letter of a script, and the letters of a long word
_SCRIPTS = (
    ("\u0e00", "\u0eff", 8),  # Thai, Lao
    ("\u1000", "\u109f", 8),  # Burmese
    ("\u1780", "\u17ff", 8),  # Khmer
    ("\u3040", "\u30ff", 4),  # kana
    ("\u3400", "\u9fff", 4),  # ideographs
    ("\U00020000", "\U0003ffff", 4),
)
_ANY_SCRIPT = re.compile(f"[{''.join(f'{first}-{last}' for first, last, _ in _SCRIPTS)}]")


def guess_language(words: Iterable[str]) -> str | None:
    """Return the language of a text's first words, or their alphabet if it is not Latin; None if it is not clear."""
    first = [word.lower().strip(".,?!:;\"'()[]") for word in islice(words, _WORDS)]
    letters = Counter(char for word in first for char in word if char.isalpha())
    alphabets = Counter[str]()  # the letters of each; Unicode's names of letters begin with their alphabet
    for char, n_chars in letters.items():
        alphabets[unicodedata.name(char, "").partition(" ")[0].capitalize()] += n_chars
    del alphabets[""]
    if not alphabets:
        return None
    [(alphabet, _)] = alphabets.most_common(1)
    if alphabet != "Latin":
        return "Chinese characters" if alphabet == "Cjk" else f"{alphabet} letters"
    counts = Counter[str]()  # of each language, its small words, and words with letters that only it has
    for language, known in SMALL_WORDS.items():
        own_letters = _OWN_LETTERS.get(language, "")
        counts[language] = sum(word in known or any(letter in word for letter in own_letters) for word in first)
    [(language, most), (_, second)] = counts.most_common(2)
    return language if most >= max(_FEWEST, second + 1, _LEAST_SHARE * len(first)) else None


def is_unspaced(text: str) -> bool:
    """Return whether a text's first words are mostly of a script without spaces, and longer than words of it are."""
    if not _ANY_SCRIPT.search(text):
        return False
    n_letters = 0
    n_unspaced = 0  # letters of scripts without spaces
    n_as_words = 0  # how many of these letters there would be if each piece were a long word
    for piece in text.split(maxsplit=_WORDS)[:_WORDS]:
        lengths = [longest for char in piece for first, last, longest in _SCRIPTS if first <= char <= last]
        n_letters += sum(map(str.isalpha, piece))
        n_unspaced += len(lengths)
        n_as_words += max(lengths, default=0)
    return 2 * n_unspaced > n_letters and n_unspaced > n_as_words


def check_spaced(words: Iterable[str], source: str) -> None:
    """Raise InputError for a text without spaces between words.  source: the text's name, for the error."""
    if is_unspaced(" ".join(islice(words, _WORDS))):
        raise unspaced_error(source)


def unspaced_error(source: str) -> InputError:
    """Return the error for a text without spaces between words.  source: the text's name."""
    return InputError(
        f"{source}, whose words have no spaces between them",
        expected="words with white space between, since a word is never cut",
        fix="cut it into words first (jieba, fugashi and PyThaiNLP do), and join them again after",
    )
